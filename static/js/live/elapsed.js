// How long a run has worked so far, in words. Pure.

export function elapsedInWords(seconds) {
  const whole = Math.floor(seconds)
  if (whole < 1) return ""
  if (whole < 60) return `${whole} s`
  return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, "0")} s`
}
