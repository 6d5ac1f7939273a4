import { ServiceError } from '../../../errors/service-error.ts'
import { errorText } from '../../terminal/error-text.ts'
import { inOneLine } from '../../terminal/one-line.ts'

/** Returns in one line why the server did not start; undefined for an internal error. */
export function whyNotStarted(
  error: unknown,
  { host, port }: { readonly host: string; readonly port: number },
): string | undefined {
  if (error instanceof ServiceError) return inOneLine(errorText(error))
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return `port ${port} of ${host} is in use; choose another with --port, or 0 for a free one`
    case 'EACCES':
      return `port ${port} of ${host} requires permission to open; choose one above 1023 with --port`
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `${host} is not an address of this machine; choose another with --host`
    default:
      return undefined
  }
}
