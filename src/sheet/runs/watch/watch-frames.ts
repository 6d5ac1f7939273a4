import type { FrameQueue, SizeOf } from '../../../events/event-bus.ts'
import type { Frame, FramesMissed, Placed } from '../../../events/frame.ts'
import { SharedSubscription } from './shared-subscription.ts'
import { SHEET_STREAM, type Sheet } from '../../sheet.ts'

/** The frames of the sheet's runs, from some moment on. */
export interface FrameWatch {
  /** The id of the last frame before the subscription; null when frames have no ids. */
  readonly position: number | null
  /** See {@link EventBus.subscribe}. */
  subscribe(
    wake: () => void,
    sizeOf?: SizeOf<Placed<Frame | FramesMissed>>,
  ): FrameQueue<Placed<Frame | FramesMissed>>
}

/**
 * Watches the `materialize.*` frames: from now on, or, where servers share their frames, from after the frame `after`.
 * Throws RecordsError while a shared store cannot be reached.
 */
export async function watchFrames(sheet: Sheet, after: number | null): Promise<FrameWatch> {
  const { frames } = sheet
  if (frames === undefined) {
    return { position: null, subscribe: (...subscriber) => sheet.events.subscribe(...subscriber) }
  }
  const position = after ?? (await frames.last())
  return {
    position,
    subscribe: (wake) =>
      new SharedSubscription<Frame>({
        frames,
        stream: SHEET_STREAM,
        after: position,
        wake,
        isLast: () => false,
      }),
  }
}
