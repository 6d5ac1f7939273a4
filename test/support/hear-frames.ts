import type { Frame } from '../../src/events/frame.ts'
import type { Sheet } from '../../src/sheet/sheet.ts'
import { watchFrames } from '../../src/sheet/runs/watch/watch-frames.ts'

/** Takes the frames that were published since it last took them, once all that were published are told. */
export type TakeFrames = () => Promise<Frame[]>

/** Listens to what a sheet publishes from now on. */
export async function hearFrames(sheet: Sheet): Promise<TakeFrames> {
  let heard: Frame[] = []
  // A sheet that cannot be opened just now publishes nothing.
  const watch = await watchFrames(sheet, null).catch(() => null)
  const drain = (): void => {
    for (let placed = subscription?.take(); placed !== undefined; placed = subscription?.take()) {
      const { eventId: _, ...frame } = placed
      heard.push(frame as Frame)
    }
  }
  // As they come: none can be taken from a sheet that is closed.
  const subscription = watch?.subscribe(drain)
  return async () => {
    await sheet.frames?.settled()
    drain()
    const taken = heard
    heard = []
    return taken
  }
}
