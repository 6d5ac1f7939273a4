/** The logger of the HTTP layer: a subset of pino, so that a pino logger fits. */
export interface HttpLogger {
  debug(object: object, message: string): void
  error(object: object, message: string): void
}
