import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request to a model, whatever its API. */
export interface ModelRequest {
  readonly api: 'openai' | 'anthropic'
  readonly model: string
  readonly system: string
  /** The texts of the messages after the system message; the first is the prompt. */
  readonly turns: readonly string[]
  /** The JSON Schema that the answer must satisfy; null for none. */
  readonly schema: JsonMap | null
  readonly headers: IncomingMessage['headers']
  readonly body: JsonMap
}

/** The reaction of the server to a request. */
export type ModelAnswer =
  /** Answers with a text, or with the text of a JSON value. */
  | { readonly text: string }
  | { readonly json: unknown }
  /** Refuses, as the API does. */
  | { readonly refusal: string }
  /** Ends with another reason than a complete answer, as the API names it; `null` for none. */
  | { readonly finish: string | null; readonly text?: string }
  /** An error of the API; 500 and 502 after the answer was made. */
  | { readonly status: number }
  /** Changes the response of an answer; null and texts are sent as they are. */
  | { readonly change: (response: JsonMap) => unknown; readonly text?: string }
  /** Makes the answer, and closes the connection instead of sending it. */
  | { readonly hangUp: true }

export type JsonMap = { [name: string]: unknown }

/** Dollars for a million tokens. */
interface Prices {
  readonly input: number
  readonly cached_input: number
  readonly output: number
}

/** Statuses of a server, or of a gateway before it, that has made the answer. */
const BILLED: ReadonlySet<number> = new Set([500, 502])

/** Bytes of a token here; the servers that this one stands for have more or less the same mean. */
const BYTES_PER_TOKEN = 4

/**
 * A local server in place of those of models. It speaks chat completions (OpenAI) and messages (Anthropic) as their references describe
 * them, without streaming and tools; refuses requests that they refuse; caches prefixes; and counts every request and token.
 */
export class ModelServer {
  /** Requests with a response, and those that were refused or broken. */
  readonly requests: ModelRequest[] = []
  /** Tokens of all answers, also of those that were not sent: those that are billed. */
  readonly tokens = { input: 0, cached: 0, output: 0 }
  readonly #answer: (request: ModelRequest) => ModelAnswer | Promise<ModelAnswer>
  readonly #key: string | null
  readonly #server = createServer((incoming, response) => void this.#serve(incoming, response))
  readonly #prefixes = new Set<string>()

  /** `key`: the only one that requests may have; null to require none. */
  constructor(
    answer: (request: ModelRequest) => ModelAnswer | Promise<ModelAnswer>,
    { key = null }: { readonly key?: string | null } = {},
  ) {
    this.#answer = answer
    this.#key = key
  }

  /** The URL of models: `http://127.0.0.1:<port>/v1`. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`
  }

  async listen(): Promise<this> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return this
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  /** Returns the bill in billionths of a dollar, exactly: prices may have three decimals. */
  billionths(prices: Prices): bigint {
    const { input, cached, output } = this.tokens
    const each = (tokens: number, price: number): bigint => BigInt(tokens) * BigInt(Math.round(price * 1000))
    return (
      each(input - cached, prices.input) + each(cached, prices.cached_input) + each(output, prices.output)
    )
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const api = incoming.url === '/v1/messages' ? 'anthropic' : 'openai'
    const send = (status: number, body: unknown): void => {
      const text = typeof body === 'string' ? body : JSON.stringify(body)
      response.writeHead(status, { 'content-type': 'application/json' }).end(text)
    }
    let request: ModelRequest
    try {
      request = readRequest(api, incoming, Buffer.concat(chunks).toString('utf8'), this.#key)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      return send(error.status, errorBody(api, error.status, error.message))
    }
    this.requests.push(request)
    const answer = await this.#answer(request)
    const isBilled = !('status' in answer) || BILLED.has(answer.status)
    const body = isBilled ? this.#respond(request, answer) : {}
    if ('hangUp' in answer) return void response.destroy()
    if ('status' in answer) return send(answer.status, errorBody(api, answer.status, 'not now'))
    send(200, 'change' in answer ? answer.change(body) : body)
  }

  /** Makes the response to a request, and counts its tokens. */
  #respond(request: ModelRequest, answer: ModelAnswer): JsonMap {
    const { api, system, turns, schema, body } = request
    const most = Number(body['max_tokens'] ?? body['max_completion_tokens'] ?? 4096)
    const refusal = 'refusal' in answer ? answer.refusal : null
    const whole = 'json' in answer ? JSON.stringify(answer.json) : 'text' in answer ? (answer.text ?? '') : ''
    const isCut = tokensOf(whole) > most
    const text = isCut ? whole.slice(0, most * BYTES_PER_TOKEN) : whole
    const finish =
      'finish' in answer
        ? answer.finish
        : isCut
          ? FINISH[api].cut
          : refusal === null
            ? FINISH[api].whole
            : FINISH[api].refused
    const prefix = `${api} ${system} ${JSON.stringify(schema)}`
    const cached = this.#prefixes.has(prefix) ? tokensOf(prefix) : 0
    this.#prefixes.add(prefix)
    const input = tokensOf(prefix) + turns.reduce((sum, turn) => sum + tokensOf(turn), 0)
    const output = tokensOf(text === '' ? (refusal ?? '') : text)
    this.tokens.input += input
    this.tokens.cached += cached
    this.tokens.output += output
    const of = {
      id: this.requests.length,
      model: `${request.model}-2026`,
      text,
      refusal,
      finish,
      input,
      cached,
      output,
    }
    return api === 'openai' ? chatCompletion(of) : messageOf(of)
  }
}

const FINISH = {
  openai: { whole: 'stop', cut: 'length', refused: 'stop' },
  anthropic: { whole: 'end_turn', cut: 'max_tokens', refused: 'refusal' },
} as const

interface Responded {
  readonly id: number
  readonly model: string
  readonly text: string
  readonly refusal: string | null
  readonly finish: string | null
  readonly input: number
  readonly cached: number
  readonly output: number
}

/** https://platform.openai.com/docs/api-reference/chat/object */
function chatCompletion({ id, model, text, refusal, finish, input, cached, output }: Responded): JsonMap {
  const message = { role: 'assistant', content: refusal === null ? text : null, refusal, annotations: [] }
  return {
    id: `chatcmpl-${id}`,
    object: 'chat.completion',
    created: 1_767_225_600,
    model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: finish }],
    usage: {
      prompt_tokens: input,
      completion_tokens: output,
      total_tokens: input + output,
      prompt_tokens_details: { cached_tokens: cached, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
    },
    service_tier: 'default',
  }
}

/** https://platform.claude.com/docs/en/api/messages */
function messageOf({ id, model, text, refusal, finish, input, cached, output }: Responded): JsonMap {
  const words = text === '' ? (refusal ?? '') : text
  return {
    id: `msg_${id}`,
    type: 'message',
    role: 'assistant',
    model,
    content: words === '' ? [] : [{ type: 'text', text: words }],
    stop_reason: finish,
    stop_sequence: null,
    usage: {
      input_tokens: input - cached,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: cached,
      output_tokens: output,
    },
  }
}

function errorBody(api: ModelRequest['api'], status: number, text: string): JsonMap {
  const type =
    status === 429 ? 'rate_limit_error' : status === 529 ? 'overloaded_error' : 'invalid_request_error'
  if (api === 'openai') return { error: { message: text, type, param: null, code: null } }
  return { type: 'error', error: { type, message: text }, request_id: 'req_1' }
}

/** A request that the API refuses. */
class Refused extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

function need(condition: boolean, reason: string, status = 400): void {
  if (!condition) throw new Refused(status, reason)
}

function readRequest(
  api: ModelRequest['api'],
  { method, url, headers }: IncomingMessage,
  text: string,
  key: string | null,
): ModelRequest {
  need(method === 'POST' && ['/v1/chat/completions', '/v1/messages'].includes(url ?? ''), 'no such path', 404)
  const given = api === 'openai' ? headers.authorization?.replace('Bearer ', '') : headers['x-api-key']
  need(key === null || given === key, 'incorrect API key provided', 401)
  need(headers['content-type'] === 'application/json', 'the content type is not JSON')
  const body = parsed(text)
  const { model, messages } = body
  need(typeof model === 'string' && model !== '', 'you must provide a model parameter')
  need(Array.isArray(messages) && messages.length > 0, 'messages must not be empty')
  const list = messages as readonly JsonMap[]
  need(
    list.every(
      ({ role, content }) => typeof role === 'string' && typeof content === 'string' && content !== '',
    ),
    'each message has a role and content',
  )
  const read = api === 'openai' ? readChat(body, list) : readMessages(body, list, headers)
  return { api, model: String(model), headers, body, ...read }
}

function parsed(text: string): JsonMap {
  try {
    return JSON.parse(text) as JsonMap
  } catch {
    throw new Refused(400, 'we could not parse the JSON body of your request')
  }
}

type ReadPart = Pick<ModelRequest, 'system' | 'turns' | 'schema'>

const CHAT_KEYS = [
  'model',
  'messages',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'response_format',
]

function readChat(body: JsonMap, messages: readonly JsonMap[]): ReadPart {
  need(
    Object.keys(body).every((name) => CHAT_KEYS.includes(name)),
    'unrecognized request argument',
  )
  need(!('max_tokens' in body && 'max_completion_tokens' in body), 'both bounds on tokens are set')
  const [first, ...turns] = messages
  need(first?.['role'] === 'system', 'the first message is not the system message of this test server')
  checkTurns(turns)
  const format = body['response_format'] as JsonMap | undefined
  let schema: JsonMap | null = null
  if (format?.['type'] === 'json_schema') {
    const { name, strict, schema: wanted } = format['json_schema'] as JsonMap
    need(typeof name === 'string' && /^[\w-]{1,64}$/.test(name), "invalid 'response_format.json_schema.name'")
    schema = wanted as JsonMap
    if (strict === true) checkStrict(schema)
  } else if (format?.['type'] === 'json_object') {
    need(/json/i.test(JSON.stringify(messages)), "'messages' must contain the word 'json' in some form")
  }
  return { system: String(first?.['content']), turns: turns.map(({ content }) => String(content)), schema }
}

const MESSAGES_KEYS = ['model', 'messages', 'max_tokens', 'system', 'temperature', 'output_config']

function readMessages(
  body: JsonMap,
  messages: readonly JsonMap[],
  headers: IncomingMessage['headers'],
): ReadPart {
  need(headers['anthropic-version'] === '2023-06-01', 'anthropic-version: header is required')
  need(
    Object.keys(body).every((name) => MESSAGES_KEYS.includes(name)),
    'extra inputs are not permitted',
  )
  need(Number.isInteger(body['max_tokens']) && Number(body['max_tokens']) >= 1, 'max_tokens: field required')
  checkTurns(messages)
  const { system } = body
  const blocks = Array.isArray(system) ? (system as readonly JsonMap[]) : [{ text: system ?? '' }]
  const config = body['output_config'] as JsonMap | undefined
  const format = config?.['format'] as JsonMap | undefined
  const schema = (format?.['schema'] as JsonMap | undefined) ?? null
  if (format !== undefined) need(format['type'] === 'json_schema', 'output_config.format.type: not supported')
  if (schema !== null) checkStrict(schema)
  return {
    system: blocks.map(({ text }) => String(text)).join(''),
    turns: messages.map(({ content }) => String(content)),
    schema,
  }
}

function checkTurns(turns: readonly JsonMap[]): void {
  const roles = turns.map(({ role }) => role)
  need(
    roles.length % 2 === 1 && roles.every((role, at) => role === (at % 2 === 0 ? 'user' : 'assistant')),
    'roles',
  )
}

/** Structured output takes a part of JSON Schema. */
function checkStrict(schema: JsonMap): void {
  const known = ['type', 'description', 'enum', 'items', 'properties', 'required', 'additionalProperties']
  const other = Object.keys(schema).find((name) => !known.includes(name))
  need(other === undefined, `invalid schema: '${other}' is not permitted`)
  need('type' in schema, "invalid schema: a schema must have a 'type' key")
  const types = [schema['type']].flat()
  if (types.includes('array')) checkStrict((schema['items'] ?? {}) as JsonMap)
  if (!types.includes('object')) return
  const properties = (schema['properties'] ?? {}) as Record<string, JsonMap>
  need(schema['additionalProperties'] === false, "invalid schema: 'additionalProperties' must be false")
  const required = (schema['required'] ?? []) as readonly string[]
  need(
    Object.keys(properties).every((name) => required.includes(name)),
    "invalid schema: 'required' must include every key in properties",
  )
  for (const property of Object.values(properties)) checkStrict(property)
}

function tokensOf(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN)
}
