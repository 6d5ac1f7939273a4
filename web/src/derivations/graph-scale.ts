interface Size {
  readonly width: number
  readonly height: number
}

/** Around the drawing, on both sides. */
const AROUND = 48
/** Smaller than that, nobody reads it without leaning forward. */
const LEGIBLE = 0.8
const LEAST = 0.15

/** As large as it is meant, or a little smaller where that spares scrolling sideways. */
export function fullSizeScale(graph: Size, room: Size): number {
  const fitting = (room.width - AROUND) / graph.width
  return fitting >= 1 || fitting < LEGIBLE || graph.width === 0 ? 1 : fitting
}

/** So small that all of it is in sight. */
export function wholeScale(graph: Size, room: Size): number {
  if (room.width === 0 || graph.width === 0 || graph.height === 0) return 1
  const fitting = Math.min((room.width - AROUND) / graph.width, (room.height - AROUND) / graph.height)
  return Math.max(LEAST, Math.min(1, fitting))
}
