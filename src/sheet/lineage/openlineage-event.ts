import { basename } from 'node:path/posix'
import type { Contract } from '../../contract/contract.ts'
import type { JsonObject } from '../../contract/json/json.ts'
import type { Derivation, Resource } from '../../derivation/definition/derivation-kind.ts'
import type { StoredRun } from '../../store/stored-run.ts'
import { columnUses, type ColumnUse } from './column-uses.ts'
import type { PastDefinition } from './past-definitions.ts'
import { uuidOf } from './sheet-ids.ts'

/** The sheet whose runs are described. */
export interface LineageSheet {
  readonly name: string
  /** Its UUID, which those of its runs are made from. */
  readonly uuid: string
  /** The namespace of its jobs and datasets. */
  readonly namespace: string
  /** The version of this program. */
  readonly version: string
}

/** The version of each schema of OpenLineage that events follow. */
const SPEC = 'https://openlineage.io/spec'
const CORE = `${SPEC}/2-0-2/OpenLineage.json#/$defs`

const FACETS = {
  ColumnLineageDatasetFacet: '1-2-0',
  ErrorMessageRunFacet: '1-0-1',
  JobTypeJobFacet: '2-0-4',
  OutputStatisticsOutputDatasetFacet: '1-0-2',
  ParentRunFacet: '1-2-0',
  ProcessingEngineRunFacet: '1-1-1',
  SchemaDatasetFacet: '1-2-0',
  SourceCodeJobFacet: '1-0-1',
} as const

/** The last event of a run by its state; an interrupted run was ended by the end of its process. */
const LAST_EVENTS = {
  finished: 'COMPLETE',
  failed: 'FAIL',
  cancelled: 'ABORT',
  interrupted: 'ABORT',
} as const

const TRANSFORMATIONS: Readonly<Record<ColumnUse['as'], JsonObject>> = {
  value: { type: 'DIRECT', subtype: 'TRANSFORMATION' },
  same: { type: 'DIRECT', subtype: 'IDENTITY' },
  key: { type: 'INDIRECT', subtype: 'JOIN' },
  condition: { type: 'INDIRECT', subtype: 'CONDITIONAL' },
}

/** Creates the events of OpenLineage for the runs of a sheet. */
export class LineageEvents {
  readonly #sheet: LineageSheet
  readonly #producer: string

  constructor(sheet: LineageSheet) {
    this.#sheet = sheet
    this.#producer = `pkg:npm/colophon@${sheet.version}`
  }

  /**
   * Returns the events of a run in their order: its start, and its end once it has ended. Those of each derivation that it computed are
   * between them, unless `definition`, that of its time, is not known.
   */
  ofRun(run: StoredRun, definition: PastDefinition | null): readonly JsonObject[] {
    const whole = this.#jobOfRun(run, definition)
    const parts = run.kind === 'materialize' && definition !== null ? this.#parts(run, definition) : []
    const starts = [whole, ...parts].map((job) => this.#event('START', run.startedAt, job))
    const { state, endedAt, error } = run
    if (state === 'running' || endedAt === null) return starts
    const message = error === null ? null : { message: error.message, programmingLanguage: 'JavaScript' }
    const result: JsonObject =
      message === null ? {} : { errorMessage: this.#facet('ErrorMessageRunFacet', message) }
    const ends = [...parts, whole].map((job) =>
      this.#event(
        LAST_EVENTS[state],
        endedAt,
        {
          ...job,
          runFacets: {
            ...job.runFacets,
            ...result,
            ...(job === whole && { colophon_run: this.#counts(run) }),
          },
        },
        job.datasets,
      ),
    )
    return [...starts, ...ends]
  }

  #event(eventType: string, eventTime: string, job: RunJob, datasets: JsonObject = {}): JsonObject {
    const { runId, name, runFacets, jobFacets } = job
    return {
      eventType,
      eventTime,
      run: { runId, facets: runFacets },
      job: { namespace: this.#sheet.namespace, name, facets: jobFacets },
      ...datasets,
      producer: this.#producer,
      schemaURL: `${CORE}/RunEvent`,
    }
  }

  #jobOfRun(run: StoredRun, definition: PastDefinition | null): RunJob {
    const { kind, file, materialized } = run
    const statistics =
      kind === 'import'
        ? { outputStatistics: this.#facet('OutputStatisticsOutputDatasetFacet', { rowCount: materialized }) }
        : {}
    const output = {
      ...this.#dataset(null, definition?.contract ?? null),
      ...(kind === 'import' && { outputFacets: statistics }),
    }
    return {
      runId: this.#runId(run),
      name: `${this.#sheet.name}.${kind}`,
      runFacets: this.#engine(),
      jobFacets: this.#jobFacets(kind),
      // The cells of a run of derivations are described by its parts.
      datasets:
        kind === 'materialize'
          ? {}
          : {
              inputs: file === undefined ? [] : [{ namespace: this.#sheet.namespace, name: basename(file) }],
              outputs: [output],
            },
    }
  }

  /** The parts of a run: one for each derivation that it computed. */
  #parts(run: StoredRun, { contract, derivations }: PastDefinition): readonly RunJob[] {
    // Such a run computes nothing.
    if (run.keepFresh !== undefined) return []
    const { name: sheet, namespace } = this.#sheet
    const parent = { run: { runId: this.#runId(run) }, job: { namespace, name: `${sheet}.${run.kind}` } }
    return derivations.flatMap((derivation) => {
      const targets = derivation.targets.filter((target) => run.targets?.includes(target) ?? true)
      if (targets.length === 0) return []
      const { file, text, kind } = derivation
      return {
        runId: this.#runId(run, file),
        name: `${sheet}.${file}`,
        runFacets: { ...this.#engine(), parent: this.#facet('ParentRunFacet', parent) },
        jobFacets: {
          ...this.#jobFacets(kind.name),
          sourceCode: this.#facet('SourceCodeJobFacet', { language: 'YAML', sourceCode: text }),
        },
        datasets: this.#datasets(derivation, targets, contract),
      }
    })
  }

  #datasets(derivation: Derivation, targets: readonly string[], contract: Contract): JsonObject {
    const uses = targets.map((target) => [target, columnUses(derivation, target)] as const)
    const all = uses.flatMap(([, of]) => of)
    const tables = new Map(
      all.flatMap(({ table }) => (table === null ? [] : [[JSON.stringify(table), table]])),
    )
    const readsSheet = all.some(({ table }) => table === null)
    const fields = Object.fromEntries(
      uses.map(([target, of]) => [target, { inputFields: this.#inputFields(of) }]),
    )
    const output = this.#dataset(null, contract, {
      columnLineage: this.#facet('ColumnLineageDatasetFacet', { fields }),
    })
    return {
      inputs: [
        ...(readsSheet ? [this.#dataset(null, contract)] : []),
        ...tables.values().map((table) => this.#dataset(table, null)),
      ],
      outputs: [output],
    }
  }

  /** Returns the columns of a field, each with all of its uses. */
  #inputFields(uses: readonly ColumnUse[]): JsonObject[] {
    const byColumn = Map.groupBy(uses, ({ table, column }) => JSON.stringify([table, column]))
    return [...byColumn.values()].flatMap((same) => {
      const [use] = same
      if (use === undefined) return []
      const transformations = same.map(({ as }) => ({ ...TRANSFORMATIONS[as], masking: false }))
      return [{ ...this.#nameOf(use.table), field: use.column, transformations }]
    })
  }

  #dataset(table: Resource | null, contract: Contract | null, facets: JsonObject = {}): JsonObject {
    const schema =
      contract === null ? {} : { schema: this.#facet('SchemaDatasetFacet', { fields: schemaOf(contract) }) }
    return { ...this.#nameOf(table), facets: { ...schema, ...facets } }
  }

  /** Returns the name of the sheet itself (null), of a file in it, or of another sheet, which is that in the export of that sheet. */
  #nameOf(table: Resource | null): { readonly namespace: string; readonly name: string } {
    const { name, namespace } = this.#sheet
    if (table === null) return { namespace, name }
    return { namespace, name: table.type === 'sheet' ? basename(table.name) : `${name}/${table.name}` }
  }

  /** Returns the UUID of a run, or of the part of a derivation in it. The time tells apart the runs of copies of a store. */
  #runId({ id, startedAt }: StoredRun, file?: string): string {
    return uuidOf(
      this.#sheet.uuid,
      JSON.stringify(['run', id, startedAt, ...(file === undefined ? [] : [file])]),
    )
  }

  #engine(): JsonObject {
    const { version } = this.#sheet
    return { processing_engine: this.#facet('ProcessingEngineRunFacet', { name: 'Colophon', version }) }
  }

  /** A facet of what no standard facet has; a custom one may follow the schema of all facets. */
  #counts(run: StoredRun): JsonObject {
    const { id, kind, state, actor, reverts } = run
    const { total, materialized, skipped, failed, calls, totalCost } = run
    return {
      _producer: this.#producer,
      _schemaURL: `${CORE}/RunFacet`,
      id,
      kind,
      state,
      actor,
      ...(reverts !== null && { reverts }),
      counts: { total, materialized, skipped, failed, calls },
      cost: totalCost,
    }
  }

  #jobFacets(jobType: string): JsonObject {
    return {
      jobType: this.#facet('JobTypeJobFacet', {
        processingType: 'BATCH',
        integration: 'COLOPHON',
        jobType: jobType.toUpperCase(),
      }),
    }
  }

  #facet(name: keyof typeof FACETS, members: JsonObject): JsonObject {
    return {
      _producer: this.#producer,
      _schemaURL: `${SPEC}/facets/${FACETS[name]}/${name}.json#/$defs/${name}`,
      ...members,
    }
  }
}

/** One job of a run, with the members of its events. */
interface RunJob {
  readonly runId: string
  readonly name: string
  readonly runFacets: JsonObject
  readonly jobFacets: JsonObject
  /** `inputs` and `outputs`, for the last event. */
  readonly datasets: JsonObject
}

function schemaOf({ fields }: Contract): JsonObject[] {
  return fields.map(({ name, type }, index) => ({ name, type, ordinal_position: index + 1 }))
}
