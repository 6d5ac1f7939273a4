import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { ApiError, countryNames, currency, formatNumber, timeZones, utcOffsets, week } from './answers.mjs'

export const API_NAME = 'countries-api'
export const API_VERSION = '1.0.0'

/** The port that the sheet's derivations call. */
export const API_PORT = 4010

const MAX_BODY_BYTES = 64 * 1024

/** @type {{method: string, path: string, pattern: RegExp, answer(request: Asked): unknown}[]} */
const ENDPOINTS = [
  endpoint('GET', '/', () => about()),
  endpoint('GET', '/currencies/{code}', ({ code }) => currency(code)),
  endpoint('GET', '/countries/{code}/names', ({ code, query }) => countryNames(code, query.get('languages'))),
  endpoint('GET', '/countries/{code}/time-zones', ({ code }) => timeZones(code)),
  endpoint('GET', '/countries/{code}/week', ({ code }) => week(code)),
  endpoint('POST', '/utc-offsets', ({ body }) => utcOffsets(body)),
  endpoint('POST', '/format-number', ({ body }) => formatNumber(body)),
]

/**
 * Starts the API on 127.0.0.1; port 0 selects a free one. Rejects if the port is in use.
 *
 * @param {{port?: number}} [options]
 * @returns {Promise<RunningApi>}
 */
export async function startApi({ port = API_PORT } = {}) {
  let requests = 0
  const server = createServer((request, response) => {
    requests += 1
    void respond(request, response)
  })
  await new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => resolve(undefined))
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  return {
    port: address.port,
    get requests() {
      return requests
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/**
 * A running API: its port, how many requests it has had, and how to end it.
 *
 * @typedef {{readonly port: number, readonly requests: number, close(): Promise<void>}} RunningApi
 */

/**
 * A request to an endpoint.
 *
 * @typedef {{code: string, query: URLSearchParams, body: any}} Asked
 */

/**
 * @param {string} method
 * @param {string} path
 * @param {(asked: Asked) => unknown} answer
 */
function endpoint(method, path, answer) {
  return { method, path, pattern: new RegExp(`^${path.replace('{code}', '([^/]+)')}$`), answer }
}

function about() {
  return {
    name: API_NAME,
    version: API_VERSION,
    endpoints: ENDPOINTS.map(({ method, path }) => `${method} ${path}`),
  }
}

/**
 * @param {import('node:http').IncomingMessage} request
 * @param {import('node:http').ServerResponse} response
 */
async function respond(request, response) {
  try {
    send(response, 200, await answerTo(request))
  } catch (error) {
    if (!(error instanceof ApiError)) console.error(error)
    const [status, message] =
      error instanceof ApiError ? [error.status, error.message] : [500, 'internal error']
    send(response, status, { error: message })
  }
}

/** @param {import('node:http').IncomingMessage} request */
async function answerTo(request) {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1')
  const matching = ENDPOINTS.filter(({ pattern }) => pattern.test(pathname))
  const found = matching.find(({ method }) => method === request.method)
  if (found === undefined) {
    throw matching.length > 0
      ? new ApiError(405, `${pathname} takes ${matching.map(({ method }) => method).join(', ')}`)
      : new ApiError(404, `no ${pathname} here: GET / lists what there is`)
  }
  const code = decode(found.pattern.exec(pathname)?.[1] ?? '')
  const body = found.method === 'POST' ? await readJson(request) : undefined
  return found.answer({ code, query: searchParams, body })
}

/** @param {string} segment */
function decode(segment) {
  try {
    return decodeURIComponent(segment)
  } catch {
    throw new ApiError(400, `"${segment}" is not percent-encoded UTF-8`)
  }
}

/** @param {import('node:http').IncomingMessage} request */
async function readJson(request) {
  const chunks = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += chunk.length
    if (bytes > MAX_BODY_BYTES) throw new ApiError(413, `the body is larger than ${MAX_BODY_BYTES} bytes`)
    chunks.push(chunk)
  }
  try {
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8'))
    if (typeof body === 'object' && body !== null) return body
  } catch {
    // reported below, like any other body that is not an object
  }
  throw new ApiError(400, 'the body is no JSON object')
}

/**
 * @param {import('node:http').ServerResponse} response
 * @param {number} status
 * @param {unknown} value
 */
function send(response, status, value) {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
  response.end(JSON.stringify(value))
}

// Not import.meta.main, which older Nodes do not have: they shall say what is wrong instead of nothing.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { port: { type: 'string', default: String(API_PORT) } } })
  const api = await startApi({ port: Number(values.port) })
  console.log(`${API_NAME} ${API_VERSION} listens on http://127.0.0.1:${api.port}`)
}
