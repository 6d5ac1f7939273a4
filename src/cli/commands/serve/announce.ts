import { Output, OutputClosed } from '../../terminal/output.ts'

/** Writes what a server says at its start to standard output; calls `stop` where nobody reads that any more. */
export async function announce(text: string, stop: () => void): Promise<void> {
  try {
    await new Output(null).write(text)
  } catch (error) {
    if (!(error instanceof OutputClosed)) throw error
    stop()
  }
}
