import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError } from '@modelcontextprotocol/server'
import { messageWithHint, ServiceError } from '../errors/service-error.ts'
import { toolOf } from './tools/tool-error.ts'

/**
 * Converts an error outside tools to an error of the protocol: something that does not exist, or that could not be done. The details of an
 * internal error are not sent.
 */
export function protocolError(
  error: unknown,
  uri: string | null,
  log: (error: unknown) => void,
): ProtocolError {
  if (error instanceof ProtocolError) return error
  if (!(error instanceof ServiceError)) {
    log(error)
    return new ProtocolError(ProtocolErrorCode.InternalError, 'internal error')
  }
  const message = messageWithHint(error, toolOf).toWellFormed()
  if (error.type === 'SheetError' && uri !== null) return new ResourceNotFoundError(uri, message)
  const code =
    error.type === 'ValidationError' || error.type === 'OperationError'
      ? ProtocolErrorCode.InvalidParams
      : ProtocolErrorCode.InternalError
  return new ProtocolError(code, `${error.type}: ${message}`)
}
