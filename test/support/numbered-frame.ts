import type { MaterializeStartFrame } from '../../src/events/frame.ts'

/** Returns a frame with a number and about this many bytes, for the ids that it lists; always the same one. */
export function numberedFrame(number: number, bytes = 0): MaterializeStartFrame {
  const id = 'x'.repeat(97)
  return {
    kind: 'materialize.start',
    ts: '2026-01-01T00:00:00.000Z',
    actor: `frame:${number}`,
    targets: null,
    recordIds: bytes === 0 ? null : Array.from({ length: Math.ceil(bytes / 100) }, () => id),
    force: false,
  }
}

/** Returns the numbers of the numbered frames in a text, in order. */
export function frameNumbers(text: string): number[] {
  return [...text.matchAll(/"actor":"frame:(\d+)"/g)].map((match) => Number(match[1]))
}
