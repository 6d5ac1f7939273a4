import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TestContext } from 'node:test'
import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import { createOpenApi } from '../../src/http/openapi/openapi-file.ts'
import { listOperations } from '../../src/http/openapi/operation-table.ts'
import type { Sheet } from '../../src/sheet/sheet.ts'
import { OpenApiChecks, type SeenResponse } from './answers-by-openapi.ts'

/** Bytes beyond which only status, headers and content type are validated. */
const LONGEST_BODY = 4 << 20

/** By the text of the document: most test sheets have the same contract. */
const CHECKS = new Map<string, OpenApiChecks>()

/** By the bytes of a document, which an app keeps as long as it does not change. */
const KNOWN = new WeakMap<Buffer, OpenApiChecks>()

/**
 * Validates every response of an app, to `inject` and over sockets, against its OpenAPI document of that moment. A violation fails the
 * request for `inject`, and the test for responses over sockets. Call it before the app is ready.
 */
export function checkAnswers(t: TestContext, app: FastifyInstance, sheet: Sheet): void {
  const openApi = createOpenApi(
    sheet,
    listOperations(app, () => undefined),
  )
  let last: OpenApiChecks | null = null
  const check = async (answer: SeenResponse): Promise<void> => {
    // While a test makes the sheet unreadable, and once it is closed, the last document applies.
    const file = await openApi().catch(() => null)
    if (file !== null) last = checksOf(file.bytes)
    last?.check(answer)
  }

  const inject = app.inject.bind(app) as (...args: readonly unknown[]) => Promise<LightMyRequestResponse>
  const checked = async (...args: readonly unknown[]): Promise<LightMyRequestResponse> => {
    const response = await inject(...args)
    const { method = 'GET', url = '/' } = response.raw.req
    const { statusCode: status, headers, rawPayload: body } = response
    await check({ method, url, status, headers, body })
    return response
  }
  app.inject = ((...args: readonly unknown[]) =>
    args.length === 1 ? checked(...args) : inject(...args)) as typeof app.inject

  const overSockets: Promise<void>[] = []
  // Before the app's own listener, which may respond at once.
  app.server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const { method = '', url = '' } = request
    const written = watchResponse(response)
    response.once('finish', () => {
      const checking = check({ method, url, status: response.statusCode, ...written() })
      // Reported when the test ends.
      checking.catch(() => undefined)
      overSockets.push(checking)
    })
  })
  // After everything that `onEnd` undoes, which a failure here would prevent.
  t.after(() => Promise.all(overSockets))
}

function checksOf(bytes: Buffer): OpenApiChecks {
  const known = KNOWN.get(bytes)
  if (known !== undefined) return known
  const text = bytes.toString()
  const checks = CHECKS.get(text) ?? new OpenApiChecks(text)
  CHECKS.set(text, checks)
  KNOWN.set(bytes, checks)
  return checks
}

/** Records the body of a response until it is finished; null if it is too long. */
function watchResponse(response: ServerResponse): () => Pick<SeenResponse, 'headers' | 'body'> {
  const chunks: Buffer[] = []
  let length = 0
  // Node does not keep headers that are passed together with the status.
  let given: Readonly<Record<string, unknown>> = {}
  const keep = (chunk: unknown): void => {
    if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) return
    length += chunk.length
    if (length <= LONGEST_BODY) chunks.push(Buffer.from(chunk as string))
  }
  const writeHead = response.writeHead.bind(response) as (...args: readonly unknown[]) => ServerResponse
  response.writeHead = (...args: readonly unknown[]) => {
    const headers = args.at(-1)
    if (typeof headers === 'object' && headers !== null) given = headers as typeof given
    return writeHead(...args)
  }
  const write = response.write.bind(response) as (...args: readonly unknown[]) => boolean
  response.write = ((...args: readonly unknown[]) => {
    keep(args[0])
    return write(...args)
  }) as typeof response.write
  const end = response.end.bind(response) as (...args: readonly unknown[]) => ServerResponse
  response.end = ((...args: readonly unknown[]) => {
    keep(args[0])
    return end(...args)
  }) as typeof response.end
  return () => ({
    headers: { ...response.getHeaders(), ...given },
    body: length > LONGEST_BODY ? null : Buffer.concat(chunks),
  })
}
