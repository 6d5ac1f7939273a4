import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'
import type { Contract } from '../../../contract/contract.ts'
import type { JsonObject } from '../../../contract/json/json.ts'
import type { YamlEdit } from '../../../contract/yaml/edit/yaml-edit.ts'
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
  RenameContext,
  RunContext,
  Source,
} from '../../definition/derivation-kind.ts'
import { renameInKeys } from '../../definition/rename-edits.ts'
import { SCRIPT_ENDINGS } from '../../definition/source-path.ts'
import type { LimitedCall } from '../../limiter/limiter.ts'
import { SecretGuards } from '../../transport/guard/secret-guard-cache.ts'
import { readEnv } from '../../transport/headers/header-template.ts'
import { Batch, type BatchOptions } from './batch.ts'
import { runOnce } from './run-once.ts'
import type { ScriptFile, ScriptHost } from './script-host.ts'
import { parseScript, type ScriptKeys } from './script-spec.ts'

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
 * The host starts and confines the processes.
 */
export class ScriptKind implements DerivationKind<ScriptSpec, ScriptPlan> {
  readonly name: string
  readonly #host: ScriptHost
  readonly #env: NodeJS.ProcessEnv
  readonly #guards = new SecretGuards()
  /** The batches of runs, by the signal of the run. */
  readonly #batches = new WeakMap<AbortSignal, WeakMap<ScriptSpec, Batch>>()

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

  /** Inputs have the new name in the JSON that the script receives; the script itself is not edited. */
  renameField(file: JsonObject, rename: RenameContext): readonly YamlEdit[] {
    return renameInKeys(file, 'output_schema', rename)
  }

  async withSources(spec: ScriptSpec, sources: readonly Source[]): Promise<ScriptSpec> {
    const script = scriptOf(spec.name, sources)
    return { ...spec, script }
  }

  sourceFault({ script }: ScriptSpec): { readonly key: string; readonly message: string } | null {
    return script.ok ? null : { key: 'script', message: script.error }
  }

  variablesOf({ env }: ScriptSpec): readonly string[] {
    return env
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

  async run(spec: ScriptSpec, plan: ScriptPlan, context: RunContext): Promise<Result<Computed, Failure>> {
    context.signal.throwIfAborted()
    const result = spec.batch
      ? await this.#batch(spec, plan, context).compute(plan.inputs, context)
      : await this.#runOnce(spec, plan, context)
    return result.ok
      ? ok({ values: result.value, evidence: { confinement: this.#host.confinement } })
      : result
  }

  #runOnce(
    spec: ScriptSpec,
    plan: ScriptPlan,
    { limiter, signal, onBegun, onSent, wanted }: RunContext,
  ): Promise<Result<Computed['values'], Failure>> {
    return limiter.run(
      { ...this.#limits(signal), onBegun, wanted },
      async (permit) => {
        try {
          signal.throwIfAborted()
          onSent()
          const result = await runOnce({ ...this.#parts(spec, plan), inputs: plan.inputs, signal })
          return { result, mayPass: false, retryAfterMs: null }
        } finally {
          permit.end()
        }
      },
      () => err({ reason: 'refused', request: plan.request, detail: 'processes are paused' } as const),
    )
  }

  /** Returns the batch of a run. */
  #batch(spec: ScriptSpec, plan: ScriptPlan, { signal, limiter }: RunContext): Batch {
    const ofRun = this.#batches.get(signal) ?? new WeakMap<ScriptSpec, Batch>()
    this.#batches.set(signal, ofRun)
    const known = ofRun.get(spec)
    if (known !== undefined) return known
    const permitted = (work: () => Promise<void>): Promise<void> =>
      limiter.run(
        this.#limits(signal),
        async (permit) => {
          try {
            return { result: await work(), mayPass: false, retryAfterMs: null }
          } finally {
            permit.end()
          }
        },
        () => undefined,
      )
    const batch = new Batch({ ...this.#parts(spec, plan), signal, permitted })
    ofRun.set(spec, batch)
    return batch
  }

  #limits(signal: AbortSignal): Pick<LimitedCall, 'resource' | 'policy' | 'signal'> {
    const { concurrency } = this.#host
    return { resource: PROCESSES, policy: { concurrency, rateLimit: null, retries: 0 }, signal }
  }

  #parts(spec: ScriptSpec, { request, script }: ScriptPlan): Omit<BatchOptions, 'signal' | 'permitted'> {
    const env = Object.fromEntries(spec.env.map((name) => [name, readEnv(name, this.#env, spec.file)]))
    const { contract, targets, output, timeout } = spec
    const guard = this.#guards.of(Object.values(env))
    return { host: this.#host, script, env, timeout, answer: { contract, targets, output, request, guard } }
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
