import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { JsonObject } from '../../src/contract/json/json.ts'
import { deleteRecords } from '../../src/sheet/writes/delete-records.ts'
import { getRecord } from '../../src/sheet/queries/get-record.ts'
import {
  materialize,
  type MaterializeRequest,
  type MaterializeResult,
} from '../../src/sheet/runs/materialize.ts'
import type { SheetOptions } from '../../src/sheet/open-sheet.ts'
import { historyPages, readProvenance } from '../../src/sheet/cells/read-provenance.ts'
import { readStatus, type TargetStatusReport } from '../../src/sheet/cells/read-status.ts'
import type { Sheet } from '../../src/sheet/sheet.ts'
import { upsertRecords } from '../../src/sheet/writes/upsert-records.ts'
import { contractText } from './contract-with.ts'
import { applyEdits, openOnEngine } from './engine.ts'
import { hearFrames, type TakeFrames } from './hear-frames.ts'
import { startLocalApi, type LocalApi } from './local-api.ts'
import { onEnd } from './on-end.ts'
import { editSheet, writeSheet, type Edit } from './sheet-fixture.ts'

/** A derivation file as a structure; JSON is YAML. */
export type DerivationFile = JsonObject

export interface RunSheetFiles {
  /** Properties besides `id`, in YAML flow style, or `name: type` for one without constraints. */
  readonly properties: readonly string[]
  readonly records: readonly JsonObject[]
  /** By file name; `url` is that of the local API. */
  derivations(url: string): Readonly<Record<string, DerivationFile>>
}

/** An open sheet whose derivations call a local API. `run` checks the invariants of any run. */
export class RunSheet {
  readonly sheet: Sheet
  readonly api: LocalApi
  readonly directory: string
  /** Returns the frames published since its last call. */
  readonly frames: TakeFrames

  private constructor(parts: { sheet: Sheet; api: LocalApi; directory: string; frames: TakeFrames }) {
    this.sheet = parts.sheet
    this.api = parts.api
    this.directory = parts.directory
    this.frames = parts.frames
  }

  /** Wraps a sheet that is already open. */
  static async of(parts: { sheet: Sheet; api: LocalApi; directory: string }): Promise<RunSheet> {
    return new RunSheet({ ...parts, frames: await hearFrames(parts.sheet) })
  }

  /** Runs derivations. The reported cells must be exactly the selected ones (D30). */
  async run(request: Partial<MaterializeRequest> = {}): Promise<MaterializeResult> {
    const selected = await this.#selected(request)
    const result = await this.start(request)
    const { materialized, skipped, failures } = result
    assert.equal(
      materialized + skipped + failures.length,
      selected,
      'D30: the counts add up to the cells selected',
    )
    await this.checkStatus()
    return result
  }

  /** Starts a run without checks. */
  start(request: Partial<MaterializeRequest> = {}): Promise<MaterializeResult> {
    const defaults = { targets: null, recordIds: null, force: false, actor: 'agent:runner' }
    return materialize(this.sheet, { ...defaults, ...request })
  }

  async write(...records: readonly JsonObject[]): Promise<void> {
    await upsertRecords(this.sheet, { records, actor: 'user:ann' })
  }

  async delete(...ids: readonly string[]): Promise<void> {
    await deleteRecords(this.sheet, { ids, actor: 'user:ann' })
  }

  async record(id: string): Promise<JsonObject> {
    return JSON.parse(String((await getRecord(this.sheet, id, null)).json)) as JsonObject
  }

  async value(id: string, field: string): Promise<unknown> {
    return (await this.record(id))[field]
  }

  async status(target: string): Promise<TargetStatusReport> {
    const report = (await readStatus(this.sheet, [target]))[target]
    assert.ok(report)
    return report
  }

  /** Returns the nonzero counts of a target. */
  async counts(target: string): Promise<Readonly<Record<string, number>>> {
    const { fresh, stale, missing, failed, overridden } = await this.status(target)
    return Object.fromEntries(
      Object.entries({ fresh, stale, missing, failed, overridden }).filter(([, n]) => n > 0),
    )
  }

  /** Returns the latest provenance entry of a cell. */
  async entry(recordId: string, field: string): Promise<JsonObject | null> {
    return readProvenance(this.sheet, { recordId, field })
  }

  async history(recordId: string, field: string): Promise<readonly JsonObject[]> {
    const entries: JsonObject[] = []
    for await (const page of historyPages(this.sheet, { recordId, field })) entries.push(...page)
    return entries
  }

  /** Edits a definition file; see {@link editSheet}. */
  edit(path: string, content: Edit): Promise<void> {
    return editSheet(this.directory, path, content)
  }

  /** D32: the five counts of each target add up to the number of records. */
  async checkStatus(): Promise<void> {
    for (const [target, report] of Object.entries(await readStatus(this.sheet, null))) {
      const { fresh, stale, missing, failed, overridden, blocked, totalRecords } = report
      assert.equal(
        fresh + stale + missing + failed + overridden,
        totalRecords,
        `D32: the counts of ${target} add up`,
      )
      assert.ok(blocked <= missing + stale + failed, `D32: blocked cells of ${target} have work`)
    }
  }

  async #selected({ targets, recordIds }: Partial<MaterializeRequest>): Promise<number> {
    const reports = Object.values(await readStatus(this.sheet, targets ?? null))
    const records = recordIds ? new Set(recordIds).size : (reports[0]?.totalRecords ?? 0)
    return (targets ? new Set(targets).size : reports.length) * records
  }
}

/** Opens a sheet and a local API for it; both are closed when the test ends. */
export async function openRunSheet(
  t: TestContext,
  files: RunSheetFiles,
  options: Partial<SheetOptions> = {},
): Promise<RunSheet> {
  const api = await startLocalApi(t)
  const directory = await writeSheet(t, {
    contract: contractText(files.properties.map(asProperty)),
    records: files.records,
    derivations: derivationTexts(files.derivations(api.url)),
  })
  const sheet = await openOnEngine(directory, options)
  onEnd(t, () => sheet.close())
  return RunSheet.of({ sheet, api, directory })
}

/** Writes derivation files into a sheet's directory, and pushes them on PostgreSQL. */
export async function writeDerivations(
  directory: string,
  files: Readonly<Record<string, DerivationFile>>,
): Promise<void> {
  await mkdir(join(directory, 'derivations'), { recursive: true })
  for (const [name, text] of Object.entries(derivationTexts(files))) {
    await writeFile(join(directory, 'derivations', name), text)
  }
  await applyEdits(directory)
}

function derivationTexts(files: Readonly<Record<string, DerivationFile>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(files).map(([name, file]) => [name, `${JSON.stringify(file, null, 2)}\n`]),
  )
}

function asProperty(property: string): string {
  const [, name, type] = /^(\w+): (\w+)$/.exec(property) ?? []
  return name === undefined ? property : `{name: ${name}, logicalType: ${type}}`
}

/** Returns a derivation that computes one field from another: `GET <url>/<target>/<input's value>`, the response's `value`. */
export function lookup(url: string, target: string, input: string): DerivationFile {
  return {
    targets: [target],
    inputs: [input],
    kind: 'http',
    url: `${url}/${target}/{{ ${input} }}`,
    response_path: 'value',
  }
}

/** Opens a sheet of the text fields `a` and `b`, where `b` is fetched by `a`; by default the API responds with `<a>`. */
export async function openLookupSheet(
  t: TestContext,
  records: readonly JsonObject[],
  options: Partial<SheetOptions> = {},
): Promise<RunSheet> {
  const run = await openRunSheet(
    t,
    {
      properties: ['a: string', 'b: string'],
      records,
      derivations: (url) => ({ 'b.yaml': lookup(url, 'b', 'a') }),
    },
    options,
  )
  answerLookups(run.api)
  return run
}

/** Makes the API respond to every request for `x` with `<x>`. */
export function answerLookups(api: LocalApi): void {
  api.answer('*', ({ path }) => ({
    json: { value: `<${decodeURIComponent(path.split('/').at(-1) ?? '')}>` },
  }))
}
