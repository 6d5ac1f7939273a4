import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json/json.ts'
import type { YamlEdit, YamlPath } from '../../contract/yaml/edit/yaml-edit.ts'
import { QueryError } from '../../errors/service-error.ts'
import type { FormulaDialect } from '../../store/formula.ts'
import type { RenameContext } from './derivation-kind.ts'
import { renameInTemplate } from './template.ts'

/** Another name of a field. */
type Rename = Pick<RenameContext, 'from' | 'to'>

/** Returns the edit of a key whose value is the name of a field, or a list of names. */
export function renameInNames(file: JsonObject, key: string, { from, to }: Rename): YamlEdit[] {
  const value = Object.hasOwn(file, key) ? (file[key] ?? null) : null
  if (value === from) return [{ op: 'set', path: [key], value: to }]
  if (!Array.isArray(value)) return []
  return (value as readonly JsonValue[]).flatMap((name, index): YamlEdit[] =>
    name === from ? [{ op: 'set', path: [key, index], value: to }] : [],
  )
}

/** Returns the edit of a map whose keys are names of fields. */
export function renameInKeys(file: JsonObject, key: string, { from, to }: Rename): YamlEdit[] {
  const map = file[key] ?? null
  return isJsonObject(map) && Object.hasOwn(map, from) ? [{ op: 'rename', path: [key, from], key: to }] : []
}

/** Returns the edits of all templates in a value, at any depth. */
export function renameInTemplates(value: JsonValue | undefined, path: YamlPath, rename: Rename): YamlEdit[] {
  if (typeof value === 'string') {
    const edits = renameInTemplate(value, rename.from, rename.to)
    return edits.length === 0 ? [] : [{ op: 'text', path, edits }]
  }
  if (Array.isArray(value)) {
    const items = value as readonly JsonValue[]
    return items.flatMap((item, index) => renameInTemplates(item, [...path, index], rename))
  }
  if (!isJsonObject(value)) return []
  return Object.entries(value).flatMap(([key, item]) => renameInTemplates(item, [...path, key], rename))
}

/** Returns the edits of a formula or, with `isQuery`, of a query. Throws ContractError for one that cannot be edited. */
export function renameInExpression(
  value: JsonValue | undefined,
  path: YamlPath,
  {
    dialect,
    context,
    isQuery = false,
  }: { readonly dialect: FormulaDialect; readonly context: RenameContext; readonly isQuery?: boolean },
): YamlEdit[] {
  if (typeof value !== 'string') return []
  const { listed, contract } = context
  // The white space around them is none of the formula or query.
  const before = value.length - value.trimStart().length
  const sql = value.trim()
  try {
    const edits = isQuery
      ? dialect.renameInQuery(sql, { listed, fields: contract.fields }, context)
      : dialect.rename(sql, contract.fields, context)
    if (edits.length === 0) return []
    const moved = edits.map(({ start, end, text }) => ({ start: start + before, end: end + before, text }))
    return [{ op: 'text', path, edits: moved }]
  } catch (error) {
    if (!(error instanceof QueryError)) throw error
    return context.fail(path, `${context.from} cannot be renamed here: ${error.message}; edit it by hand`)
  }
}
