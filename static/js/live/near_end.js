// Whether who reads is near enough to the end to be taken along. Pure; lengths in CSS pixels.

export const NEAR_PX = 96

export function isNearEnd({ top, height, view }) {
  return height - view - top <= NEAR_PX
}
