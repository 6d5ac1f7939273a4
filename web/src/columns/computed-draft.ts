import type { PreviewAnswer } from '../../../src/wire/definition/preview.ts'
import { toSheetContract, type ContractDocument, type SheetContract } from '../api/contract.ts'
import { inputFor, templateText, type KindTemplate } from '../derivations/forms/templates.ts'
import { editForm, memberOf, readForm } from '../derivations/forms/form-text.ts'
import { setTargets } from '../derivations/forms/mapping.ts'
import { namesOf } from '../derivations/forms/member-forms.ts'
import { withField, type FieldPlace } from './contract-with.ts'
import type { FieldDraft } from './field-draft.ts'
import type { GhostCell } from './ghost.ts'

/** Returns the contract with fields that are not saved yet, side by side. */
export function withFields(
  document: ContractDocument,
  drafts: readonly FieldDraft[],
  place: FieldPlace,
): Readonly<Record<string, unknown>> {
  let changed: ContractDocument = document
  let next = place
  for (const draft of drafts) {
    changed = withField(changed, draft, next) as unknown as ContractDocument
    next = { beside: draft.name, side: 'after' }
  }
  return { ...changed }
}

/** Returns the contract as the page sees it with fields that are not saved yet. */
export function contractWith(contract: SheetContract, drafts: readonly FieldDraft[]): SheetContract {
  return toSheetContract(
    withFields(contract.document, drafts, null) as unknown as ContractDocument,
    contract.dialect,
  )
}

/** Returns the text of a contract for a preview: JSON, which is YAML, without what the service adds. */
export function contractTextOf({ document }: SheetContract): string {
  const [entry] = document.schema
  const properties = entry.properties.map(({ derived: _, ...property }) => property)
  return JSON.stringify({ ...document, schema: [{ ...entry, properties }] })
}

/** Returns the name of a new file for a field: `country_name` becomes `country-name.yaml`, with a number where there is such a file. */
export function newFileFor(field: string, files: readonly string[]): string {
  const known = new Set(files.map((file) => file.toLowerCase()))
  const stem = field.replaceAll('_', '-').toLowerCase()
  for (let number = 1; ; number += 1) {
    const file = `${stem}${number === 1 ? '' : `-${number}`}.yaml`
    if (!known.has(file) && !file.startsWith('.')) return file
  }
}

/** Returns the text with which a new column begins. */
export function firstText(contract: SheetContract, template: KindTemplate, name: string): string {
  return templateText(template, { targets: [name], input: inputFor(contract, [name]) })
}

/** Returns a text that fills other fields too, or others instead; the same text where it cannot be read. */
export function withTargets(text: string, change: (targets: readonly string[]) => readonly string[]): string {
  const reading = readForm(text)
  if (!('members' in reading)) return text
  const edits = setTargets(reading.members, change(targetsOf(text)))
  if (edits.length === 0) return text
  const edited = editForm(text, edits, null)
  return 'last' in edited ? edited.last.text : text
}

/** Returns the fields that a text fills; none where it cannot be read. */
export function targetsOf(text: string): readonly string[] {
  const reading = readForm(text)
  return 'members' in reading ? namesOf(memberOf(reading.members, 'targets')) : []
}

/** Returns the previewed cells of a field, by record. */
export function cellsOf(
  answer: Pick<PreviewAnswer, 'records'> | null,
  field: string,
): ReadonlyMap<string, GhostCell> {
  return new Map(
    answer?.records.map(({ record_id: id, values, failures }) => [
      id,
      { value: values[field] ?? null, isFailed: Object.hasOwn(failures, field) },
    ]),
  )
}
