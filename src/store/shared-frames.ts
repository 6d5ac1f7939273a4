/** A frame as it is kept for all servers. */
export interface StoredFrame {
  /** Ascends over the frames of all streams, in the order in which they become visible. */
  readonly id: number
  /** The JSON that was published. */
  readonly json: string
}

/** Consecutive frames of a stream. */
export interface FramePage {
  readonly frames: readonly StoredFrame[]
  /** The page has all frames of the stream from the requested id up to this one. */
  readonly upTo: number
  /** Whether `upTo` was the last id that had been assigned. */
  readonly whole: boolean
  /**
   * Null when nothing is missing before {@link frames}. Otherwise frames up to this id, which may have been of the stream,
   * are no longer kept, or the store is not the one that assigned the requested id.
   */
  readonly missedUpTo: number | null
}

/** A subscriber of a stream. Its methods must not throw. */
export interface FrameListener {
  /** Receives the next frames, perhaps none: with these it has all up to `upTo`, unless {@link onGap} was called. */
  onFrames(frames: readonly StoredFrame[], upTo: number): void
  /** Reports that frames were missed: the subscriber must read them. */
  onGap(): void
  /** Resolves when it has finished a read because of a gap, if one is under way. */
  settled(): Promise<void>
  /** Reports that no more frames follow: the store is being closed. */
  onClose(): void
}

/**
 * Frames that all processes with the store receive, in one order; publishers name the streams. They are kept for a while,
 * so that a disconnected process can read them. Stores that only processes of one machine share have none.
 */
export interface SharedFrames {
  /**
   * Adds frames, as JSON, to a stream. It does not wait and never throws: the frames are stored soon, in the order of
   * publishing, with retries while the store cannot be written. When too many wait, the oldest are dropped.
   */
  publish(stream: string, frames: readonly string[]): void
  /** Resolves when all frames published here have been delivered here, or cannot be at present. */
  settled(): Promise<void>
  /** Returns the id of the last stored frame; 0 for none. Throws RecordsError. */
  last(): Promise<number>
  /** Returns the frames of a stream after an id, as many as fit into a page. Throws RecordsError. */
  read(stream: string, after: number): Promise<FramePage>
  /**
   * Subscribes a listener, at once or a little later ({@link FrameListener.onGap} is called then); returns a function that
   * unsubscribes it.
   */
  listen(stream: string, listener: FrameListener): () => void
}
