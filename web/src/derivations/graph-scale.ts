interface Size {
  readonly width: number
  readonly height: number
}

/** The margin on both sides together, in CSS pixels. */
const AROUND = 48
/** The smallest legible scale. */
const LEGIBLE = 0.8
const LEAST = 0.15

/** Returns the scale 1, or a legible smaller one that avoids horizontal scrolling. */
export function fullSizeScale(graph: Size, room: Size): number {
  const fitting = (room.width - AROUND) / graph.width
  return fitting >= 1 || fitting < LEGIBLE || graph.width === 0 ? 1 : fitting
}

/** Returns the scale at which the whole graph is visible, at most 1. */
export function wholeScale(graph: Size, room: Size): number {
  if (room.width === 0 || graph.width === 0 || graph.height === 0) return 1
  const fitting = Math.min((room.width - AROUND) / graph.width, (room.height - AROUND) / graph.height)
  return Math.max(LEAST, Math.min(1, fitting))
}
