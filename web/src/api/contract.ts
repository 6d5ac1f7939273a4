import type { ApiError } from './api-error.ts'
import type { SqlDialect } from '../../../src/wire/schema/dialect.ts'

/** A field of the sheet. */
export interface SheetField {
  readonly name: string
  /** The business name; the field name if the contract has none. */
  readonly title: string
  readonly description: string | null
  readonly type: FieldType
  readonly primaryKey: boolean
  readonly required: boolean
  readonly unique: boolean
  /** The allowed values, from the contract's quality rule (D6); null if any are allowed. */
  readonly values: readonly (string | number | boolean)[] | null
  readonly options: Readonly<Record<string, unknown>>
  /** The type of the items of an array, if the contract has one. */
  readonly itemType?: FieldType | undefined
  readonly editableBy: readonly string[] | null
  readonly derived: {
    readonly derivation: string
    readonly kind: string
    readonly inputs: readonly string[]
  } | null
}

export type FieldType =
  'string' | 'integer' | 'number' | 'boolean' | 'date' | 'timestamp' | 'time' | 'array' | 'object'

export interface SheetContract {
  /** The SQL dialect of the store. */
  readonly dialect: SqlDialect
  /** The name of the sheet. */
  readonly name: string
  readonly description: string | null
  readonly fields: readonly SheetField[]
  readonly fieldByName: ReadonlyMap<string, SheetField>
  /** Returns the title of a field; its name if the contract has no such field. */
  readonly titleOf: (name: string) => string
  /** The contract as the server returned it. */
  readonly document: ContractDocument
  /** The error of a derivation, or of a file that it needs, that is not valid; null for none. Until it is repaired, no field is known to be derived. */
  readonly fault: ApiError | null
}

/** The part of `GET /api/contract` that the viewer reads. */
export interface ContractDocument {
  readonly name?: string
  readonly description?: string | { readonly purpose?: string }
  readonly schema: readonly [{ readonly name: string; readonly properties: readonly Property[] }]
}

/** A property of the contract, which may have further keys of the standard. */
export interface Property {
  readonly name: string
  readonly businessName?: string
  readonly description?: string
  readonly logicalType: FieldType
  readonly primaryKey?: boolean
  readonly required?: boolean
  readonly unique?: boolean
  readonly logicalTypeOptions?: Readonly<Record<string, unknown>>
  readonly items?: { readonly logicalType?: FieldType }
  readonly quality?: readonly {
    readonly metric?: string
    readonly arguments?: { readonly validValues?: readonly (string | number | boolean)[] }
  }[]
  readonly customProperties?: readonly { readonly property: string; readonly value: unknown }[]
  readonly 'x-editable-by'?: readonly string[]
  readonly derived?: SheetField['derived']
}

export function toSheetContract(
  document: ContractDocument,
  dialect: SqlDialect = 'sqlite',
  fault: ApiError | null = null,
): SheetContract {
  const [{ name, properties }] = document.schema
  const fields = properties.map(toField)
  const { description } = document
  const fieldByName = new Map(fields.map((field) => [field.name, field]))
  return {
    dialect,
    name: document.name ?? name,
    description: (typeof description === 'string' ? description : description?.purpose) ?? null,
    fields,
    fieldByName,
    titleOf: (field) => fieldByName.get(field)?.title ?? field,
    document,
    fault,
  }
}

/** Whether two answers of the server are the same, so that the earlier object can stay. */
export function isSameContract(before: SheetContract | undefined, now: SheetContract): boolean {
  const keyOf = ({ dialect, document, fault }: SheetContract): string =>
    JSON.stringify([dialect, document, fault?.message])
  return before !== undefined && keyOf(before) === keyOf(now)
}

function toField(property: Property): SheetField {
  const editableBy = property.customProperties?.find((each) => each.property === 'editableBy')?.value
  return {
    name: property.name,
    title: property.businessName ?? property.name,
    description: property.description ?? null,
    type: property.logicalType,
    primaryKey: property.primaryKey === true,
    required: property.required === true,
    unique: property.unique === true || property.primaryKey === true,
    values:
      property.quality?.find(({ metric }) => metric === 'invalidValues')?.arguments?.validValues ?? null,
    options: property.logicalTypeOptions ?? {},
    itemType: property.items?.logicalType,
    editableBy: (editableBy as readonly string[] | undefined) ?? property['x-editable-by'] ?? null,
    derived: property.derived ?? null,
  }
}
