import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json/json.ts'
import type { DifferenceReport } from './difference-report.ts'
import { FOLIO_SOURCE } from './adopt-folio-log.ts'

export interface LogExport {
  /** The names of fields in folio. */
  readonly names: ReadonlyMap<string, string>
  /** Returns the id of a record in folio. */
  idOf(id: string): JsonValue
  /** The derived fields that folio has. */
  readonly targets: ReadonlySet<string>
  readonly report: DifferenceReport
}

/** A line of the log of folio, and the cell here. */
export interface FolioLine {
  readonly id: string
  readonly field: string
  readonly line: JsonObject
}

/**
 * Returns the entries of a line of the log that folio has: those that came from folio, computed cells, and writes of derived fields by people. Others
 * have no place there, and are counted.
 */
export function folioLinesOf(line: JsonObject, context: LogExport): readonly FolioLine[] {
  const { source, record_id: id, field, values } = line
  const { report } = context
  const leave = (what: string): readonly FolioLine[] => {
    report.count({ action: 'cannot', file: 'provenance.jsonl', what }, Number(line['seq'] ?? 1))
    return []
  }
  if (source === FOLIO_SOURCE && typeof id === 'string' && typeof field === 'string') {
    return [{ id, field, line: restored(line, id, field, context) }]
  }
  if (typeof id === 'string' && typeof field === 'string') {
    // The line of folio is there as well.
    if (line['adopted_from'] === FOLIO_SOURCE) return []
    if (!context.targets.has(field))
      return leave('an entry of a field that is not derived in folio has no place there')
    const { actor, at, input_hash: hash } = line
    if (source === 'revert' && hash === undefined) return [humanLine(id, field, line, context)]
    return [
      {
        id,
        field,
        line: {
          ...cellOf(id, field, context),
          source: kindOf(source ?? null),
          actor: actor ?? null,
          at: atOf(at ?? null),
          ...(hash === undefined ? {} : { input_hash: hash }),
        },
      },
    ]
  }
  if (typeof id !== 'string' || !isJsonObject(values) || source !== 'write') {
    return leave('an import, a deletion or a restored record has no place in the log of folio')
  }
  const written = Object.keys(values).filter((name) => context.targets.has(name) && values[name] !== null)
  if (written.length < Object.keys(values).length)
    leave('a write of ordinary fields has no place in the log of folio')
  return written.map((name) => humanLine(id, name, line, context))
}

/** Returns the line for a value that a person wrote. */
export function humanLine(
  id: string,
  field: string,
  { actor, at }: JsonObject,
  context: LogExport,
): FolioLine {
  const line = {
    ...cellOf(id, field, context),
    source: 'human_override',
    actor: actor ?? null,
    at: atOf(at ?? null),
  }
  return { id, field, line }
}

/** Returns the line for a cell whose hash in folio is another one than that of its last line. */
export function computedLine(
  {
    id,
    field,
    kind,
    hash,
  }: { readonly id: string; readonly field: string; readonly kind: string; readonly hash: string },
  { actor, at }: { readonly actor: string; readonly at: string },
  context: LogExport,
): FolioLine {
  const line = { ...cellOf(id, field, context), source: kindOf(kind), actor, at: atOf(at), input_hash: hash }
  return { id, field, line }
}

function cellOf(id: string, field: string, { idOf, names }: LogExport): JsonObject {
  return { record_id: idOf(id), field: names.get(field) ?? field }
}

/** Returns a line of folio as it was. */
function restored(line: JsonObject, id: string, field: string, context: LogExport): JsonObject {
  const { actor, at, folio_at: given } = line
  const others = Object.entries(line).flatMap(([name, value]) => {
    if (name === 'folio_at' || name === 'folio_source') return []
    if (['input_hash', 'model', 'cost_usd'].includes(name)) return [[name, value] as const]
    return name.startsWith('folio_') ? [[name.slice('folio_'.length), value] as const] : []
  })
  return {
    ...cellOf(id, field, context),
    source: line['folio_source'] ?? null,
    actor: actor ?? null,
    at: given ?? atOf(at ?? null),
    ...Object.fromEntries(others),
  }
}

function kindOf(source: JsonValue): JsonValue {
  return source === 'script' ? 'python' : source
}

/** Returns a time as folio writes it, in whole seconds where there are no others. */
function atOf(at: JsonValue): JsonValue {
  return typeof at === 'string' ? at.replace('.000Z', 'Z') : at
}
