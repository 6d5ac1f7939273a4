import { endRun, endRunEarly, type EndingRun } from './end-run.ts'

/** Does the work of a run that has the run lock, and stores how it ended. Throws what the work throws. */
export async function workToEnd<T>(run: EndingRun, work: () => Promise<T>): Promise<T> {
  try {
    const result = await work()
    await endRun(run.store, run.active, { state: 'finished', error: null })
    return result
  } catch (error) {
    // When the store cannot be written, the run is found to be interrupted later.
    await endRunEarly(run, error).catch(() => undefined)
    throw error
  }
}
