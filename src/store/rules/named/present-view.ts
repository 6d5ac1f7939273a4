import { isJsonObject, type JsonObject, type JsonValue } from '../../../contract/json/json.ts'
import type { ViewState } from '../../named/stored-view.ts'

/** Returns the present name of a field; null where it is removed. */
export type PresentName = (name: string) => string | null

/** Returns a view with the present names of fields. What names a removed field is left out; SQL stays as it is. */
export function presentView({ conditions, sql, sort, columns }: ViewState, present: PresentName): ViewState {
  return {
    conditions: conditions.flatMap((condition) => presentCondition(condition, present)),
    sql,
    sort: sort.flatMap((term) => {
      const [, minus = '', field = ''] = /^(-?)(.*)$/s.exec(term) ?? []
      const name = present(field)
      return name === null ? [] : [minus + name]
    }),
    columns: Object.fromEntries(
      Object.entries(columns).map(([setting, value]) => [setting, presentSetting(value, present)]),
    ),
  }
}

function presentCondition(condition: JsonObject, present: PresentName): JsonObject[] {
  const { field, fields } = condition
  if (typeof field === 'string') {
    const name = present(field)
    return name === null ? [] : [{ ...condition, field: name }]
  }
  if (!Array.isArray(fields)) return [condition]
  const names = presentNames(fields, present)
  return names.length === 0 ? [] : [{ ...condition, fields: names }]
}

function presentSetting(setting: JsonValue, present: PresentName): JsonValue {
  if (Array.isArray(setting)) return presentNames(setting, present)
  if (!isJsonObject(setting)) return setting
  return Object.fromEntries(
    Object.entries(setting).flatMap(([field, value]) => {
      const name = present(field)
      return name === null ? [] : [[name, value]]
    }),
  )
}

function presentNames(fields: readonly JsonValue[], present: PresentName): string[] {
  return fields.flatMap((field) => (typeof field === 'string' ? (present(field) ?? []) : []))
}
