import type { Frame } from '../../src/events/frame.ts'
import type { Sheet } from '../../src/sheet/sheet.ts'
import { watchFrames } from '../../src/sheet/runs/watch/watch-frames.ts'

/** Returns the frames published since the last call, once all of them have arrived. */
export type TakeFrames = () => Promise<Frame[]>

/** Subscribes to the frames of a sheet from now on. */
export async function hearFrames(sheet: Sheet): Promise<TakeFrames> {
  let heard: Frame[] = []
  // A sheet that cannot be opened now publishes nothing.
  const watch = await watchFrames(sheet, null).catch(() => null)
  const drain = (): void => {
    for (let placed = subscription?.take(); placed !== undefined; placed = subscription?.take()) {
      const { eventId: _, ...frame } = placed
      heard.push(frame as Frame)
    }
  }
  // At once: none can be taken from a closed sheet.
  const subscription = watch?.subscribe(drain)
  return async () => {
    await sheet.frames?.settled()
    drain()
    const taken = heard
    heard = []
    return taken
  }
}
