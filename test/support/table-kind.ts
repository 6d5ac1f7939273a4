import type { JsonObject, JsonValue } from '../../src/contract/json/json.ts'
import { ok } from '../../src/errors/result.ts'
import type {
  DerivationKind,
  InputValues,
  Plan,
  Source,
} from '../../src/derivation/definition/derivation-kind.ts'

/** The source of {@link TableKind}. */
export const TABLE = 'refs/table.json'

interface Spec {
  readonly field: string
  readonly table: JsonObject | null
  readonly problem: string
  readonly targets: readonly string[]
}

/** A kind whose result is what a JSON file has for the value of a field. */
export class TableKind implements DerivationKind<Spec> {
  readonly name = 'table'
  /** Called with every value that is computed. */
  onRun: (value: JsonValue) => Promise<void> = () => Promise.resolve()
  /** Called when the table is read. */
  onRead: () => Promise<void> = () => Promise.resolve()

  parse({ field }: JsonObject, targets: readonly string[]) {
    const spec: Spec = { field: field as string, table: null, problem: 'not read', targets }
    return {
      spec,
      usedFields: [spec.field],
      requiredFields: [spec.field],
      resources: [],
      sources: [TABLE],
    }
  }

  async withSources(spec: Spec, [source]: readonly Source[]): Promise<Spec> {
    await this.onRead()
    const table = source?.bytes ? (JSON.parse(Buffer.from(source.bytes).toString()) as JsonObject) : null
    return { ...spec, table, problem: source?.problem ?? '' }
  }

  prepare(): void {}

  plan({ field, table, problem }: Spec, inputs: InputValues) {
    const key = inputs[field] ?? null
    if (key === null) return { outcome: 'blocked', field } as const
    const request = `row ${JSON.stringify(key)}`
    if (table === null)
      return { outcome: 'failed', failure: { reason: 'computation', request, detail: problem } } as const
    const row = table[key as string] ?? null
    return { outcome: 'run', plan: { request, hashed: { row }, evidence: { row } } } as const
  }

  estimate(): number {
    return 0
  }

  async run({ targets }: Spec, { hashed }: Plan, { onSent }: Parameters<DerivationKind['run']>[2]) {
    onSent()
    const value = hashed['row'] ?? null
    await this.onRun(value)
    return ok({ values: Object.fromEntries(targets.map((target) => [target, ok(value)])), evidence: {} })
  }
}
