/** Another process executes the run by now, or has ended it. */
export class RunReleasedError extends Error {}

/** Creates the error of a run that is released since its server is being stopped. */
export function releasedByShutdown(run: string): RunReleasedError {
  return new RunReleasedError(`the service is stopping; run ${run} continues at another server or worker`)
}
