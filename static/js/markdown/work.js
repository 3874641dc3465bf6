// How much the parser may do for one answer, in the steps that the server counts.

export const MOST_WORK = 100_000

export class TooMuchWork extends Error {}

export function spend(environment, steps) {
  const left = (environment.work ?? MOST_WORK) - steps
  if (left < 0) throw new TooMuchWork()
  environment.work = left
}
