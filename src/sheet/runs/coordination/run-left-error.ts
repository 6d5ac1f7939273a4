/** The run goes on, or has ended, though not by this process. */
export class RunLeftError extends Error {}

/** Whether an error is that the run is another process' by now. */
export function isLeft(error: unknown): error is RunLeftError {
  return error instanceof RunLeftError
}

/** The reason for which a run is left when its server is stopped. */
export function leftByStopping(run: string): RunLeftError {
  return new RunLeftError(`the service is stopping; run ${run} goes on at another server or worker`)
}
