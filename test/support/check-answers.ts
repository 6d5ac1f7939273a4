import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TestContext } from 'node:test'
import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import { createOpenApi } from '../../src/http/openapi/openapi-file.ts'
import { listOperations } from '../../src/http/openapi/operation-table.ts'
import type { Sheet } from '../../src/sheet/sheet.ts'
import { OpenApiChecks, type SeenAnswer } from './answers-by-openapi.ts'

/** Longer answers are only held to status, headers and content type. */
const LONGEST_BODY = 4 << 20

/** By text of the document: most sheets of tests have the same contract. */
const CHECKS = new Map<string, OpenApiChecks>()

/**
 * Holds every answer that an app gives, to `inject` and over sockets, to the OpenAPI document that it has at that moment.
 * What differs is the fault of the request for `inject`, and of the test for answers over sockets. Call it before the app
 * is ready.
 */
export function checkAnswers(t: TestContext, app: FastifyInstance, sheet: Sheet): void {
  const openApi = createOpenApi(
    sheet,
    listOperations(app, () => undefined),
  )
  let last: OpenApiChecks | null = null
  const check = async (answer: SeenAnswer): Promise<void> => {
    // While a test keeps the sheet from being read, and when it is closed, the document is as it was.
    const file = await openApi().catch(() => null)
    if (file !== null) last = checksOf(file.bytes.toString())
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
  // Before the app's own listener, which may answer at once.
  app.server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const { method = '', url = '' } = request
    const written = watchResponse(response)
    response.once('finish', () => {
      const checking = check({ method, url, status: response.statusCode, ...written() })
      // Told when the test ends.
      checking.catch(() => undefined)
      overSockets.push(checking)
    })
  })
  // After everything that `onEnd` undoes, which would stay undone if this failed.
  t.after(() => Promise.all(overSockets))
}

function checksOf(text: string): OpenApiChecks {
  let checks = CHECKS.get(text)
  if (checks === undefined) {
    checks = new OpenApiChecks(text)
    CHECKS.set(text, checks)
  }
  return checks
}

/** Keeps what is written to a response, for when it is finished; a body that is too long as null. */
function watchResponse(response: ServerResponse): () => Pick<SeenAnswer, 'headers' | 'body'> {
  const chunks: Buffer[] = []
  let length = 0
  // Node forgets headers that are given together with the status.
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
