import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Contract } from '../../contract/contract.ts'
import type { JsonObject, JsonValue } from '../../contract/json/json.ts'
import { own } from '../../contract/odcs/document-shape.ts'
import { parseContract } from '../../contract/odcs/parse-contract.ts'
import { showNames, showValue } from '../../contract/json/show-value.ts'
import { valueError } from '../../contract/values/validate-value.ts'
import type { Kinds } from '../../derivation/kinds.ts'
import { adoptFolioContract, renamed, type FolioContract } from '../../files/folio/adopt-folio-contract.ts'
import { adoptFolioLog, cellKey, isHumanOverride, type FolioLog } from '../../files/folio/adopt-folio-log.ts'
import {
  adoptFolioRecords,
  hasFractions,
  readFolioLines,
  undeclaredFields,
  type AdoptedRecord,
  type FolioRecord,
  type RecordAdoption,
  type SetAside,
} from '../../files/folio/adopt-folio-records.ts'
import { ContractError, fileError } from '../../errors/service-error.ts'
import { DifferenceReport } from '../../files/folio/difference-report.ts'
import {
  FOLIO_ENUM,
  FOLIO_INPUTS,
  FOLIO_NAME,
  FOLIO_ORIGIN,
  FOLIO_REQUIRED,
  FOLIO_TYPE,
  ORIGINAL_ID_DESCRIPTION,
  withCustom,
  type FolioField,
} from '../../files/folio/folio-field.ts'
import type { FolioHash } from '../../files/folio/folio-hash.ts'
import { parseFolioYaml } from '../../files/folio/folio-yaml.ts'
import { closedListRule, yamlText } from '../../files/inference/contract-text.ts'
import type { FolioCell } from './adopt-cells.ts'
import { adoptDerivations, type DerivationAdoption, type NewFile } from './adopt-derivations.ts'
import { copiesOf, type CopiedFile } from './copied-files.ts'
import type { FolioSource } from './folio-source.ts'

/** The file with values and lines that the new sheet does not have. */
export const SET_ASIDE_FILE = 'folio-set-aside.jsonl'

/** A folio sheet, converted in memory. */
export interface ConvertedSheet {
  readonly source: FolioSource
  readonly report: DifferenceReport
  /** Definition files, and those with what is set aside. */
  readonly files: readonly NewFile[]
  /** Files of the source that are copied. */
  readonly copied: readonly CopiedFile[]
  /** The records with all values. */
  readonly records: readonly JsonObject[]
  readonly log: readonly JsonObject[]
  readonly cells: ReadonlyMap<string, FolioCell>
  readonly hashes: ReadonlyMap<string, FolioHash | null>
  /** The cells whose value was set aside, by `cellKey`. */
  readonly aside: ReadonlySet<string>
}

export interface FolioConversion {
  readonly source: FolioSource
  readonly kinds: Kinds
  /** The id of a contract without one. */
  readonly name: string
  readonly now: Date
  /** The directory of the new sheet. */
  readonly target: string
}

/** Converts a folio sheet in memory, and reports every difference. Throws ContractError for a contract that cannot be read. */
export function convertFolioSheet({ source, kinds, name, now, target }: FolioConversion): ConvertedSheet {
  const report = new DifferenceReport()
  const aside: SetAside[] = []
  const yaml = parseFolioYaml(source.file('contract.yaml') ?? new Uint8Array(), 'contract.yaml')
  const folio = adoptFolioContract(yaml, name, report)
  const lines = readFolioLines(source.file('records.jsonl') ?? new Uint8Array(), 'records.jsonl', {
    report,
    aside,
  })
  const fields = withUndeclared(folio, lines, report)
  const originalId =
    renamed(
      ['original_id'],
      null,
      fields.map((field) => field.name),
    )[0] ?? 'original_id'
  const loose = contractOf(
    folio,
    fields.map(({ property }) => property),
  )
  const adopted = adoptFolioRecords(lines, {
    contract: loose,
    fields,
    key: folio.key,
    originalId,
    report,
    aside,
  })
  const names = new Map(fields.map((field) => [field.folio, field.name]))
  const hasSheet = (path: string): boolean => existsSync(join(target, path, 'contract.yaml'))
  const derived = adoptDerivations({
    source,
    contract: loose,
    kinds,
    names,
    key: folio.key,
    hasSheet,
    report,
  })
  const contract = finalContract({ folio, fields, adopted, derived, originalId, report })
  const entries = readFolioLines(source.file('provenance.jsonl') ?? new Uint8Array(), 'provenance.jsonl', {
    report,
    aside,
  })
  const log = adoptFolioLog(entries, { records: adopted.records, fields, key: folio.key, now, report })
  const asideCells = cellsOf(aside, names)
  const cells = computedCells(adopted.records, { contract, derived, log, aside: asideCells, report })
  const { copied } = copiesOf(source, report)
  const records = adopted.records.map(({ values }) => values)
  const files = [{ path: 'contract.yaml', bytes: Buffer.from(contract.text) }, ...derived.files]
  if (aside.length > 0) {
    files.push({ path: SET_ASIDE_FILE, bytes: Buffer.concat(aside.map(asideLine)) })
    const what = aside.length === 1 ? '1 value or line is' : `${aside.length} values and lines are`
    report.add('cannot', null, `${what} set aside in ${SET_ASIDE_FILE}, each with its line and reason`)
  }
  return {
    source,
    report,
    files,
    copied,
    records,
    log: log.lines,
    cells,
    hashes: derived.hashes,
    aside: asideCells,
  }
}

/** Returns the cells whose value is set aside. */
function cellsOf(aside: readonly SetAside[], names: ReadonlyMap<string, string>): ReadonlySet<string> {
  return new Set(
    aside.flatMap(({ recordId, field }) =>
      recordId === null || field === null ? [] : [cellKey(recordId, names.get(field) ?? field)],
    ),
  )
}

function asideLine({ file, line, recordId, field, value, reason }: SetAside): Uint8Array {
  return Buffer.from(`${JSON.stringify({ file, line, record_id: recordId, field, value, reason })}\n`)
}

/** Adds the fields that only records have, and gives integer fields with fractions the type number. */
function withUndeclared(
  { fields, key }: FolioContract,
  lines: readonly FolioRecord[],
  report: DifferenceReport,
): readonly FolioField[] {
  const declared = fields.map((field) => {
    if (field.type !== 'integer' || !hasFractions(lines, field)) return field
    const place = { file: 'contract.yaml', line: field.line }
    report.add('adapted', place, `field ${showValue(field.folio)} is of type number: values are no integers`)
    const property = withCustom({ ...field.property, logicalType: 'number' }, FOLIO_TYPE, 'integer')
    return { ...field, type: 'number' as const, property }
  })
  const undeclared = undeclaredFields(lines, new Set([...fields.map(({ folio }) => folio), key]))
  const names = renamed(
    undeclared.map(({ folio }) => folio),
    null,
    declared.map(({ name }) => name),
  )
  const added = undeclared.map(({ folio, type, line }, index) => {
    const name = names[index] ?? folio
    const called = name === folio ? '' : `, called ${showValue(name)}`
    report.add(
      'adapted',
      { file: 'records.jsonl', line },
      `field ${showValue(folio)}, which the contract does not have, is an optional field of type ${type}${called}`,
    )
    const property: JsonObject = {
      name,
      ...(name === folio ? {} : { businessName: folio }),
      logicalType: type,
    }
    return {
      folio,
      name,
      type,
      isKey: false,
      isDeclared: false,
      isRequired: false,
      validValues: null,
      declaredDerived: false,
      declaredInputs: null,
      hasEditors: false,
      line: null,
      property: withCustom(
        name === folio ? property : withCustom(property, FOLIO_NAME, folio),
        FOLIO_ORIGIN,
        'undeclared',
      ),
    }
  })
  return [...declared, ...added]
}

/** Parses the contract of the new sheet. Throws ContractError about the source for one that no sheet can have. */
function contractOf({ document, entry }: FolioContract, properties: readonly JsonObject[]): Contract {
  try {
    return parseContract(yamlText({ ...document, schema: [{ ...entry, properties }] }))
  } catch (error) {
    if (!(error instanceof ContractError)) throw error
    // Its line is one of the text that was made.
    const message = `the folio sheet cannot be adopted: ${error.inFile?.message ?? error.message}`
    throw new ContractError(...fileError({ file: 'contract.yaml', line: 1, message }, 'invalid_definition'))
  }
}

interface FinalContract {
  readonly folio: FolioContract
  readonly fields: readonly FolioField[]
  readonly adopted: RecordAdoption
  readonly derived: DerivationAdoption
  readonly originalId: string
  readonly report: DifferenceReport
}

/** Returns the contract with the constraints that all records keep, and with what the derivations say of their targets. */
function finalContract({ folio, fields, adopted, derived, originalId, report }: FinalContract): Contract {
  const byTarget = new Map(
    derived.derivations.flatMap((derivation) =>
      derivation.targets.map((target) => [target, derivation] as const),
    ),
  )
  const properties = fields.map((field) => {
    const derivation = byTarget.get(field.name)
    const place = { file: 'contract.yaml', line: field.line }
    const subject = `field ${showValue(field.folio)}`
    const left = derived.left.get(field.name)
    if (!field.declaredDerived && (field.declaredInputs ?? []).length > 0 && left === undefined)
      report.add('cannot', place, `${subject}: x-inputs is left out, since x-derived is not true`)
    let property = constrained(field, { adopted, isDerived: derivation !== undefined, report })
    if (derivation !== undefined) {
      if (!field.hasEditors) {
        property = { ...property, 'x-editable-by': ['*'] }
        report.add(
          'adapted',
          place,
          `${subject}: x-editable-by is ["*"], since without it folio lets everybody write`,
        )
      }
      if (!field.declaredDerived) return property
      const declared = new Set(field.declaredInputs ?? [])
      const isSame = new Set(derivation.inputs).symmetricDifference(declared).size === 0
      if (field.declaredInputs !== null && !isSame) {
        report.add(
          'adapted',
          place,
          `${subject}: x-inputs are those of ${derivation.file}: ${showNames(derivation.inputs)}`,
        )
      }
      return { ...property, 'x-derived': true, 'x-inputs': derivation.inputs }
    }
    if (!field.declaredDerived && left === undefined) return property
    const why = left === undefined ? 'no derivation file has this target' : 'its derivation is not adopted'
    report.add('adapted', place, `${subject} is an ordinary field with its values: ${why}`)
    const inputs: readonly JsonValue[] = field.declaredInputs ?? left ?? []
    return withCustom(property, FOLIO_INPUTS, inputs)
  })
  const original = withCustom(
    {
      name: originalId,
      description: ORIGINAL_ID_DESCRIPTION,
      logicalType: 'string',
    },
    FOLIO_ORIGIN,
    'id',
  )
  return contractOf(folio, adopted.hasOtherIds ? [...properties, original] : properties)
}

interface Constraints {
  readonly adopted: RecordAdoption
  readonly isDerived: boolean
  readonly report: DifferenceReport
}

function constrained(field: FolioField, { adopted, isDerived, report }: Constraints): JsonObject {
  const subject = `field ${showValue(field.folio)}`
  let { property } = field
  const missing = adopted.missing.get(field.name)
  if (field.isRequired && !isDerived && missing !== undefined) {
    const place = { file: 'records.jsonl', line: missing }
    report.add('adapted', place, `${subject} is not required: a record has no value`)
    property = withCustom(property, FOLIO_REQUIRED, true)
  } else if (field.isRequired) property = { ...property, required: true }
  if (field.validValues === null) return property
  const known = listOf(field)
  if (known === null) {
    const place = { file: 'contract.yaml', line: field.line }
    const message = `${subject}: its enum is in the custom property ${FOLIO_ENUM} and is not held, since its values are not of type ${field.type}`
    report.add('cannot', place, message)
    return withCustom(property, FOLIO_ENUM, field.validValues)
  }
  const values = new Set(known)
  for (const { line, values: record } of adopted.records) {
    const value = own(record, field.name)
    if (value === null || values.has(value)) continue
    values.add(value)
    report.count(
      {
        action: 'adapted',
        file: 'records.jsonl',
        what: `${subject}: validValues has a value that is not in enum`,
      },
      line,
      value,
    )
  }
  if (field.type !== 'string' || values.size > field.validValues.length)
    property = withCustom(property, FOLIO_ENUM, field.validValues)
  return { ...property, quality: [closedListRule([...values] as string[])] }
}

/** Returns the values of an `enum` in the type of its field; null if that takes no list, or not these values. */
function listOf({ type, validValues }: FolioField): readonly JsonValue[] | null {
  if (type === 'array' || type === 'object') return null
  const property = { name: 'v', logicalType: type }
  const [field] = parseContract(
    yamlText({
      apiVersion: 'v3.1.0',
      kind: 'DataContract',
      id: 'x',
      version: '1',
      schema: [
        { name: 'x', properties: [property, { name: 'id', logicalType: 'string', primaryKey: true }] },
      ],
    }),
  ).fields
  const values = (validValues ?? []).map((text): JsonValue => {
    if (type === 'integer' || type === 'number') return text.trim() === '' ? text : Number(text)
    return type === 'boolean' && /^(?:true|false)$/i.test(text) ? text.toLowerCase() === 'true' : text
  })
  return values.every((value) => field !== undefined && valueError(field, value) === null) ? values : null
}

interface CellContext {
  readonly contract: Contract
  readonly derived: DerivationAdoption
  readonly log: FolioLog
  /** The cells whose value is set aside. */
  readonly aside: ReadonlySet<string>
  readonly report: DifferenceReport
}

/** Returns the cells of derived fields that folio has computed. Others with a value are overridden. */
function computedCells(
  records: readonly AdoptedRecord[],
  { contract, derived, log, aside, report }: CellContext,
): ReadonlyMap<string, FolioCell> {
  const cells = new Map<string, FolioCell>()
  for (const target of derived.derivations.flatMap(({ targets }) => targets)) {
    const field = contract.fieldByName.get(target)
    for (const { id, line, raw, values } of records) {
      const last = log.last.get(cellKey(id, target))
      const value = own(values, target)
      const count = (what: string): void =>
        report.count(
          { action: 'kept', file: 'records.jsonl', what: `field ${showValue(target)}: ${what}` },
          line,
        )
      if (last === undefined) {
        if (value !== null) count('a value without an entry in provenance.jsonl counts as written by hand')
      } else if (isHumanOverride(last)) {
        const what = aside.has(cellKey(id, target))
          ? 'whose manual value is set aside'
          : 'that a person cleared'
        if (value === null) count(`a cell ${what} is missing, and the next run computes it`)
      } else if (field === undefined || valueError(field, value) === null) {
        cells.set(cellKey(id, target), { value, raw, last })
      }
    }
  }
  return cells
}
