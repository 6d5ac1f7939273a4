import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'
import type { Contract } from '../../../contract/contract.ts'
import type { JsonObject } from '../../../contract/json/json.ts'
import type { Failure } from '../../../errors/failure.ts'
import { err, ok, type Result } from '../../../errors/result.ts'
import type {
  Computed,
  DerivationKind,
  InputValues,
  ParseContext,
  ParsedSpec,
  Plan,
  Planned,
  RunContext,
  Source,
} from '../../definition/derivation-kind.ts'
import { SCRIPT_ENDINGS } from '../../definition/source-path.ts'
import { SecretGuards } from '../../transport/guard/secret-guard-cache.ts'
import { readEnv } from '../../transport/headers/header-template.ts'
import { runOnce } from './run-once.ts'
import type { ScriptFile, ScriptHost } from './script-host.ts'
import { parseScript, type ScriptKeys } from './script-spec.ts'
import type { AnswerContext } from './script-values.ts'

/** A file of kind `script`, with its script once that is read. */
export interface ScriptSpec extends ScriptKeys {
  readonly contract: Contract
  readonly targets: readonly string[]
  /** The derivation file, for messages. */
  readonly file: string
  readonly script: Result<ScriptFile, string>
}

interface ScriptPlan extends Plan {
  /** The path and the hash of the script's bytes. */
  readonly hashed: { readonly script: string; readonly script_sha256: string }
  readonly script: ScriptFile
  /** The inputs as JSON with sorted keys. */
  readonly inputs: string
}

/** The resource of all processes in the limiter. */
const PROCESSES = 'processes of scripts'

/**
 * The kind `script`, also called `python`: runs a script of the sheet for each record. The input hash covers the bytes of the script file.
 * How processes are started and confined is the host's part.
 */
export class ScriptKind implements DerivationKind<ScriptSpec, ScriptPlan> {
  readonly name: string
  readonly #host: ScriptHost
  readonly #env: NodeJS.ProcessEnv
  readonly #guards = new SecretGuards()

  constructor(name: 'script' | 'python', host: ScriptHost, env: NodeJS.ProcessEnv) {
    this.name = name
    this.#host = host
    this.#env = env
  }

  parse(file: JsonObject, targets: readonly string[], context: ParseContext): ParsedSpec<ScriptSpec> {
    const keys = parseScript(file, targets, context)
    const path = `scripts/${keys.name}`
    const script = err(`${path} was not read`)
    return {
      spec: { ...keys, contract: context.contract, targets, file: context.file, script },
      usedFields: [],
      requiredFields: [],
      resources: [{ type: 'process', name: path }],
      sources: SCRIPT_ENDINGS.map((ending) => path + ending),
    }
  }

  async withSources(spec: ScriptSpec, sources: readonly Source[]): Promise<ScriptSpec> {
    const script = scriptOf(spec.name, sources)
    return { ...spec, script }
  }

  sourceFault({ script }: ScriptSpec): { readonly key: string; readonly message: string } | null {
    return script.ok ? null : { key: 'script', message: script.error }
  }

  prepare({ env, file }: ScriptSpec): void {
    for (const name of env) readEnv(name, this.#env, file)
  }

  plan({ name, script }: ScriptSpec, inputs: InputValues): Planned<ScriptPlan> {
    const request = script.ok ? script.value.path : `scripts/${name}`
    if (!script.ok) {
      return { outcome: 'failed', failure: { reason: 'computation', request, detail: script.error } }
    }
    const hashed = { script: script.value.path, script_sha256: script.value.sha256 }
    const plan = {
      request,
      hashed,
      evidence: hashed,
      script: script.value,
      inputs: canonicalize(inputs) ?? '{}',
    }
    return { outcome: 'run', plan }
  }

  estimate(): number {
    return 0
  }

  run(spec: ScriptSpec, plan: ScriptPlan, context: RunContext): Promise<Result<Computed, Failure>> {
    const { signal, onBegun, onSent, wanted } = context
    const policy = { concurrency: this.#host.concurrency, rateLimit: null, retries: 0 }
    return context.limiter.run(
      { resource: PROCESSES, policy, signal, onBegun, wanted },
      async (permit) => {
        try {
          signal.throwIfAborted()
          onSent()
          const result = await this.#compute(spec, plan, signal)
          return { result, mayPass: false, retryAfterMs: null }
        } finally {
          permit.end()
        }
      },
      () => err({ reason: 'refused', request: plan.request, detail: 'processes are paused' } as const),
    )
  }

  async #compute(
    spec: ScriptSpec,
    plan: ScriptPlan,
    signal: AbortSignal,
  ): Promise<Result<Computed, Failure>> {
    const env = Object.fromEntries(spec.env.map((name) => [name, readEnv(name, this.#env, spec.file)]))
    const { contract, targets, output, timeout } = spec
    const { request, script, inputs } = plan
    const answer: AnswerContext = {
      contract,
      targets,
      output,
      request,
      guard: this.#guards.of(Object.values(env)),
    }
    const host = this.#host
    const result = await runOnce({ host, script, inputs, env, timeout, signal, answer })
    return result.ok ? ok({ values: result.value, evidence: { confinement: host.confinement } }) : result
  }
}

/** Returns the first script of this name that exists, by the order of the endings. */
function scriptOf(name: string, sources: readonly Source[]): Result<ScriptFile, string> {
  const source =
    sources.find(({ path, bytes, problem }) => bytes !== null || problem !== `${path} does not exist`) ?? null
  if (source === null) {
    return err(`scripts/${name} does not exist; add it with one of the endings ${SCRIPT_ENDINGS.join(', ')}`)
  }
  const { path, bytes, problem } = source
  if (bytes === null) return err(problem)
  return ok({ path, bytes, sha256: createHash('sha256').update(bytes).digest('hex') })
}
