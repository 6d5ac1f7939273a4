import { setImmediate } from 'node:timers/promises'
import type { JsonObject, JsonValue } from '../../contract/json/json.ts'
import type { YamlEdit } from '../../contract/yaml/edit/yaml-edit.ts'
import { err, ok } from '../../errors/result.ts'
import type {
  BatchContext,
  BatchItem,
  DerivationKind,
  ParseContext,
  ParsedSpec,
  Plan,
  RenameContext,
} from '../definition/derivation-kind.ts'
import { renameInNames } from '../definition/rename-edits.ts'
import { DEFAULT_LIMITS } from '../limiter/limit-policy.ts'

/** A derivation file of kind `measure`. */
export interface MeasureSpec {
  readonly field: string
  readonly unit: string
  readonly targets: readonly string[]
}

interface MeasurePlan extends Plan {
  readonly hashed: { readonly unit: string; readonly text: string }
}

/** Dollars that are reserved for a text. */
export const MOST_COST = 0.1
export const COST_OF_CHARACTER = 0.001

/** The limits of the meter. */
export const METER_LIMITS = { ...DEFAULT_LIMITS, concurrency: 3 }

/** The host that a measurement claims to call. */
export const METER = 'meter.example:443'

const KEYS = ['field', 'unit']

/**
 * Test support: a kind unrelated to `http`. It counts the characters of a field; its members, evidence and resources are its own, and it
 * costs less than it estimates. The text `boundless` cannot be measured.
 */
export class MeasureKind implements DerivationKind<MeasureSpec, MeasurePlan> {
  readonly name: string
  /** The texts that were measured, in order. */
  readonly measured: string[] = []
  /** The most measurements at a time. */
  peak = 0
  #underWay = 0

  constructor(name = 'measure') {
    this.name = name
  }

  parse(file: JsonObject, targets: readonly string[], context: ParseContext): ParsedSpec<MeasureSpec> {
    const unknown = Object.keys(file).find((key) => !KEYS.includes(key))
    if (unknown !== undefined) context.fail([unknown], `unknown key "${unknown}"`)
    const field = textOf('field', file, context)
    const unit = textOf('unit', file, context)
    return {
      spec: { field, unit, targets },
      usedFields: [field],
      requiredFields: [field],
      resources: [
        { type: 'host', name: METER },
        { type: 'file', name: 'units.csv' },
      ],
    }
  }

  renameField(file: JsonObject, rename: RenameContext): readonly YamlEdit[] {
    return renameInNames(file, 'field', rename)
  }

  prepare(): void {}

  plan({ field, unit }: MeasureSpec, inputs: { readonly [field: string]: JsonValue }) {
    const text = inputs[field] ?? null
    if (text === null) return { outcome: 'blocked', field } as const
    const hashed = { unit, text: typeof text === 'string' ? text : JSON.stringify(text) }
    const plan = { request: `measure ${unit} of ${hashed.text}`, hashed, evidence: { unit } }
    return { outcome: 'run', plan } as const
  }

  estimate(): number {
    return MOST_COST
  }

  async run(
    { targets }: MeasureSpec,
    { request, hashed: { text } }: MeasurePlan,
    context: Parameters<DerivationKind['run']>[2],
  ): ReturnType<DerivationKind['run']> {
    const { limiter, hosts, signal, wanted } = context
    const busy: Outcome = err({ reason: 'computation', request, detail: 'the meter asks for a pause' })
    return limiter.run<Outcome>(
      { resource: 'meter', policy: METER_LIMITS, hosts, signal, wanted: wanted.bind(context) },
      async (permit) => {
        permit.sent()
        context.onSent()
        this.measured.push(text)
        this.#underWay += 1
        this.peak = Math.max(this.peak, this.#underWay)
        await setImmediate()
        this.#underWay -= 1
        permit.end()
        return { result: measure(text, targets, request), mayPass: false, retryAfterMs: null }
      },
      () => busy,
    )
  }
}

/** Test support: a {@link MeasureKind} that measures many texts in one batch. */
export class BatchMeasureKind extends MeasureKind {
  /** The size of each batch, in order. */
  readonly batches: number[] = []

  async runBatch(
    { targets }: MeasureSpec,
    items: readonly BatchItem<MeasurePlan>[],
    { signal }: BatchContext,
  ): Promise<Outcome[]> {
    signal.throwIfAborted()
    this.batches.push(items.length)
    await setImmediate()
    return items.map(({ plan, onSent }) => {
      onSent()
      this.measured.push(plan.hashed.text)
      return measure(plan.hashed.text, targets, plan.request)
    })
  }
}

type Outcome = Awaited<ReturnType<DerivationKind['run']>>

function measure(text: string, targets: readonly string[], request: string): Outcome {
  if (text === 'boundless') return err({ reason: 'computation', request, detail: 'it has no end' })
  const { length } = text
  return ok({
    values: Object.fromEntries(targets.map((target) => [target, ok(length)])),
    evidence: { characters: length },
    cost: length * COST_OF_CHARACTER,
  })
}

function textOf(key: string, file: JsonObject, context: ParseContext): string {
  const value = file[key]
  return typeof value === 'string' ? value : context.fail([], `${key} is missing; it is text`)
}
