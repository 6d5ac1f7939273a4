/** A frame as it is kept for all servers. */
export interface StoredFrame {
  /** Counts up over the frames of all streams, in the order in which readers come to see them. */
  readonly id: number
  /** As it was published. */
  readonly json: string
}

/** Frames of a stream that come one after the other. */
export interface FramePage {
  readonly frames: readonly StoredFrame[]
  /** No other frame of the stream has an id up to this one, and comes after those asked for. */
  readonly upTo: number
  /** Whether `upTo` was the last id that had been given out. */
  readonly whole: boolean
  /**
   * Null when nothing is missing before {@link frames}. Else frames up to this id, which may have been of the stream, are
   * not kept any more, or the store is another than the one that gave out the id asked for.
   */
  readonly missedUpTo: number | null
}

/** Somebody who is told of a stream as it goes on. Its methods must not throw. */
export interface FrameListener {
  /** The next frames, perhaps none: with these it has been told of all up to `upTo`, unless {@link onGap} was called. */
  onFrames(frames: readonly StoredFrame[], upTo: number): void
  /** It is not told of some frames: they have to be read. */
  onGap(): void
  /** Resolves when it has read what it is reading just now because of a gap, if it is. */
  settled(): Promise<void>
  /** Nothing more is told: the store is being closed. */
  onClose(): void
}

/**
 * Frames that every process with the store is told, in one order (streams are named by whoever publishes). They are kept for
 * a while, so that who was away can read them. Stores that only processes of one machine share have no such thing.
 */
export interface SharedFrames {
  /**
   * Adds frames, as JSON, to a stream. It waits for nobody and never throws: they are stored soon, in the order of
   * publishing, and again and again tried to be while the store cannot be written. Of more than can wait the oldest go.
   */
  publish(stream: string, frames: readonly string[]): void
  /** Resolves when all that was published here has been told here, or cannot be just now. */
  settled(): Promise<void>
  /** The id of the frame that was stored last; 0 before the first. Throws RecordsError. */
  last(): Promise<number>
  /** The frames of a stream after an id: a number and a size of them that can be kept. Throws RecordsError. */
  read(stream: string, after: number): Promise<FramePage>
  /** Tells a listener from now on, or a little later ({@link FrameListener.onGap} is called then); answers with how to stop. */
  listen(stream: string, listener: FrameListener): () => void
}
