import { createHash } from 'node:crypto'
import type { JsonObject } from '../../../contract/json/json.ts'
import type { Failure } from '../../../errors/failure.ts'
import { err, ok, type Result } from '../../../errors/result.ts'
import type {
  Computed,
  DerivationKind,
  InputValues,
  Planned,
  RunContext,
} from '../../definition/derivation-kind.ts'
import { MODELS_FILE } from '../../definition/source-path.ts'
import { NotWanted } from '../../limiter/limiter.ts'
import type { SentRequest } from '../../recording/recorded-call.ts'
import { requestLabel, type StubPrompt, type Transport } from '../../transport/call/transport.ts'
import { SecretGuard } from '../../transport/guard/secret-guard.ts'
import { fillHeaders, shownHeaders, type FilledHeaders } from '../../transport/headers/fill-headers.ts'
import { envNames, readEnv } from '../../transport/headers/header-template.ts'
import { sendGuarded } from '../../transport/network/guarded-send.ts'
import { anthropic } from './adapters/anthropic.ts'
import type { Adapter, Turn } from './adapters/adapter.ts'
import { openai } from './adapters/openai.ts'
import { parseAi, renameInAi, type AiSpec } from './ai-spec.ts'
import { Conversation, expectedOf, mostOfBoth, type AiPlan } from './conversation.ts'
import { tokensIn } from './models/price.ts'
import { renderPrompt } from './prompt.ts'
import type { Answer } from './read-answer.ts'
import { RequestBodies } from './request-bodies.ts'

const ADAPTERS: { readonly [api in AiSpec['model']['api']]: Adapter } = { openai, anthropic }

/** A longer prompt is represented by its hash in the input hash and in provenance. */
const SHOWN_PROMPT_BYTES = 16 * 1024

/** Statuses of 500 and more for which nothing was generated: the server had no capacity. */
const UNBILLED = new Set([503, 529])

/** The headers that all requests of a derivation have. */
interface ConstantHeaders extends Pick<FilledHeaders, 'headers' | 'secretHeaders'> {
  /** Finds the secrets of the headers. */
  readonly guard: SecretGuard
}

/** The parts of the requests of a derivation that have no secrets. */
interface ShownParts {
  readonly headers: SentRequest['headers']
  readonly bodies: RequestBodies
}

/**
 * The kind `ai`: fills its targets with the answer of a language model. The contract is the schema of the answer, which is validated
 * against all of it; an answer that violates it is asked for once more. A cost is reserved for both attempts and settled with the tokens
 * that the responses report.
 */
export class AiKind implements DerivationKind<AiSpec, AiPlan> {
  readonly name = 'ai'
  readonly needsListedInputs = false
  readonly readsListedInputs = false
  readonly parse = parseAi
  readonly renameField = renameInAi
  readonly expected = expectedOf
  readonly #transport: Transport
  readonly #env: NodeJS.ProcessEnv
  readonly #headers = new WeakMap<AiSpec, ConstantHeaders>()
  readonly #shown = new WeakMap<AiSpec, ShownParts>()

  /** `{{ env.NAME }}` in the headers of `models.yaml` is read from `env` when a call is made. */
  constructor(transport: Transport, env: NodeJS.ProcessEnv) {
    this.#transport = transport
    this.#env = env
  }

  /** Models and prompts are read with the file, which names them. */
  async withSources(spec: AiSpec): Promise<AiSpec> {
    return spec
  }

  /** The contract is the schema of answers. Model and prompt are included, since a source may change after the file was parsed with it. */
  versionOf({ instructions, model, prompt }: AiSpec): string {
    return JSON.stringify([instructions, model.api, model.url, model.model, model.structuredOutput, prompt])
  }

  prepare({ model }: AiSpec): void {
    for (const name of envNames(model.headers)) readEnv(name, this.#env, MODELS_FILE)
  }

  priceProblem({ model }: AiSpec): string | null {
    return model.price === null ? `model ${model.name} in ${MODELS_FILE} has no price` : null
  }

  plan(spec: AiSpec, inputs: InputValues): Planned<AiPlan> {
    const { model } = spec
    const prompt = renderPrompt(spec.prompt, inputs)
    const bytes = Buffer.byteLength(prompt)
    const url = model.url + ADAPTERS[model.api].path
    const hashed: JsonObject = {
      url,
      'gen_ai.provider.name': model.api,
      'gen_ai.request.model': model.model,
      structured_output: model.structuredOutput,
      instructions: spec.instructions,
      prompt: bytes > SHOWN_PROMPT_BYTES ? sha256(prompt) : prompt,
    }
    const plan = {
      request: requestLabel({ method: 'POST', url }),
      hashed,
      evidence: { model: model.name, ...hashed },
      prompt,
      url,
      promptBytes: bytes,
      most: model.price === null ? null : mostOfBoth(spec, bytes, model.price),
    }
    return { outcome: 'run', plan }
  }

  estimate({ most }: AiPlan): number | null {
    return most
  }

  async run(spec: AiSpec, plan: AiPlan, context: RunContext): Promise<Result<Computed, Failure>> {
    const constant = this.#headersOf(spec)
    const conversation = new Conversation({ spec, plan, guard: constant.guard })
    const isFree = (): boolean => conversation.attempts > 0 && !conversation.isOpen
    const first = await this.#ask(conversation, constant, context).catch((error: unknown) => {
      // A request that was refused at no cost is not sent again.
      if (isFree()) context.onFree?.()
      throw error
    })
    if (!first.ok) return isFree() ? ok(conversation.failed(first.error)) : err(first.error)
    if (conversation.mayRepair(first.value)) {
      const { onBegun: _begun, onSent: _sent, ...again } = context
      try {
        const second = await this.#ask(conversation, constant, { ...again, onSent: () => undefined })
        // The first answer is not the result of the recorded run.
        if (!second.ok && second.error.reason === 'not_recorded') return ok(conversation.failed(second.error))
      } catch (error) {
        // The first answer is paid for, and what it has is the result.
        if (!context.signal.aborted && !(error instanceof NotWanted)) throw error
      }
    }
    return ok(conversation.computed())
  }

  firstRequest(spec: AiSpec, plan: AiPlan): SentRequest {
    return this.#request(spec, plan, [{ role: 'user', text: plan.prompt }])
  }

  #request(spec: AiSpec, { url }: AiPlan, turns: readonly Turn[]): SentRequest {
    const { headers, bodies } = this.#shownOf(spec)
    return { method: 'POST', url, headers, body: bodies.of(turns) }
  }

  #shownOf(spec: AiSpec): ShownParts {
    const known = this.#shown.get(spec)
    if (known !== undefined) return known
    const api = ADAPTERS[spec.model.api]
    const headers = withOwnHeaders(api, shownHeaders(spec.model.headers))
    const parts = { headers, bodies: new RequestBodies(api, spec) }
    this.#shown.set(spec, parts)
    return parts
  }

  /** Returns the headers of a derivation's requests, made once. Throws OperationError as {@link readEnv} does. */
  #headersOf(spec: AiSpec): ConstantHeaders {
    const known = this.#headers.get(spec)
    if (known !== undefined) return known
    const api = ADAPTERS[spec.model.api]
    const { headers, secretHeaders, secrets } = fillHeaders(spec.model.headers, this.#env, MODELS_FILE)
    const constant = {
      headers: withOwnHeaders(api, headers),
      secretHeaders,
      guard: new SecretGuard(secrets),
    }
    this.#headers.set(spec, constant)
    return constant
  }

  /** Sends the conversation, and adds the answer to it. */
  async #ask(
    conversation: Conversation,
    { headers, secretHeaders }: ConstantHeaders,
    context: RunContext,
  ): Promise<Result<Answer, Failure>> {
    const { spec, plan, guard } = conversation
    const api = ADAPTERS[spec.model.api]
    const shown = this.#request(spec, plan, conversation.turns)
    // The permit of this request must be free for the next one.
    const { promise: stored, resolve } = Promise.withResolvers<void>()
    const continues = conversation.attempts > 0
    let isSent = false
    const onSent = (): void => {
      if (!isSent) conversation.attempts += 1
      isSent = true
      conversation.isOpen = true
      context.onSent()
    }
    const mayRetry = (status: number): boolean => {
      if (!isBilled(status)) conversation.isOpen = false
      return status === 429 || UNBILLED.has(status)
    }
    const prompt = stubPrompt(conversation, api)
    const response = await sendGuarded(
      this.#transport,
      { request: { ...shown, method: 'POST', headers, secretHeaders, prompt }, shown, guard },
      {
        ...context,
        policy: context.policies.forUrl(plan.url),
        stored,
        onSent,
        continues,
        mayRetry,
      },
    )
    if (!response.ok) {
      resolve()
      return response
    }
    const answer = conversation.add(response.value, api.read(response.value.json))
    // Once the next request waits for a permit, it is the first to get one.
    if (conversation.mayRepair(answer)) setImmediate(resolve)
    else void context.stored.then(resolve, resolve)
    return ok(answer)
  }
}

/** Adds the headers of an API that are not given. */
function withOwnHeaders(
  api: Adapter,
  headers: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const given = new Set(Object.keys(headers).map((name) => name.toLowerCase()))
  const own = Object.entries(api.headers).filter(([name]) => !given.has(name))
  return { ...Object.fromEntries(own), ...headers }
}

/** Returns the prompt for a stub, which counts a token for four bytes. */
function stubPrompt({ spec, plan }: Conversation, api: Adapter): StubPrompt {
  const { model, constantBytes } = spec
  return {
    model: model.name,
    text: plan.prompt,
    responseOf(answer) {
      const input = tokensIn(constantBytes + Buffer.byteLength(plan.prompt))
      const usage = { input, cached: 0, written: 0, output: tokensIn(Buffer.byteLength(answer)) }
      return api.respond({ text: answer, model: model.model, usage })
    },
  }
}

/** Whether a request with this status may cost; otherwise its server refused it before it generated anything. */
function isBilled(status: number): boolean {
  return status >= 500 && !UNBILLED.has(status)
}

function sha256(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`
}
