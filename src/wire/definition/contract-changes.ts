import { Type, type Static } from 'typebox'
import type { NewField } from '../../contract/edit/edit-fields.ts'
import type { ContractReport, FieldChange } from '../../sheet/definition/change/change-fields.ts'
import type { WholeContract } from '../../sheet/definition/change/replace-contract.ts'
import { actorMember } from '../schema/actor-member.ts'
import { closedObject } from '../schema/closed-object.ts'
import { LineChangeAnswer } from '../schema/line-change.ts'
import { inDocument } from '../schema/openapi-keywords.ts'
import { flagParameter, WHOLE_NUMBER } from '../schema/page-parameters.ts'
import { changeNote, DefinitionChangeAnswer, toDefinitionChangeAnswer } from './change.ts'
import { ContractAnswer } from './contract.ts'

/** Path of a field of the contract. */
export const PropertyParams = closedObject({
  name: Type.String({ description: 'The name of the field.', ...inDocument({ minLength: 1 }) }),
})

/** Query of the removal of a field. */
export const RemovePropertyQuery = closedObject({
  dry_run: Type.Optional(flagParameter('With `true`, nothing is changed: the response says what would be.')),
  confirm: Type.Optional(
    Type.String({
      pattern: WHOLE_NUMBER,
      title: 'a whole number',
      description: 'The number of values of the field, which may be lost.',
    }),
  ),
})

const LogicalTypeName = Type.Union(
  [
    Type.Literal('string'),
    Type.Literal('integer'),
    Type.Literal('number'),
    Type.Literal('boolean'),
    Type.Literal('date'),
    Type.Literal('timestamp'),
    Type.Literal('time'),
    Type.Literal('array'),
    Type.Literal('object'),
  ],
  { description: 'The type of its values.' },
)

const OnInvalid = Type.Union([Type.Literal('refuse'), Type.Literal('null')], {
  description:
    'What becomes of values that do not fit another type: they refuse the change (default), or are lost.',
})

const settings = {
  description: Type.Optional(
    Type.String({ maxLength: 10_000, description: 'What the field means; an empty text for none.' }),
  ),
  required: Type.Optional(Type.Boolean({ description: 'Whether every record has a value.' })),
  unique: Type.Optional(Type.Boolean({ description: 'Whether no two records have the same value.' })),
  editable_by: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: 1000,
      description: 'Patterns of the actors who may write the field; with an empty list nobody may.',
    }),
  ),
}

const actor = Type.Optional(
  actorMember('The actor who changes the contract; the server default when absent.'),
)

/** Body of `POST /api/contract/properties`. */
export const AddPropertyBody = closedObject({
  name: Type.String({
    maxLength: 200,
    description: 'Letters, digits and `_`, not starting with a digit.',
    ...inDocument({ pattern: '^[A-Za-z_][A-Za-z0-9_]*$' }),
  }),
  logicalType: LogicalTypeName,
  ...settings,
  note: changeNote,
  actor,
})

/** Body of `PATCH /api/contract/properties/{name}`. */
export const ChangePropertyBody = closedObject({
  new_name: Type.Optional(
    Type.String({
      maxLength: 200,
      description: 'Another name, also in the derivations that name the field.',
      ...inDocument({ pattern: '^[A-Za-z_][A-Za-z0-9_]*$' }),
    }),
  ),
  logicalType: Type.Optional(LogicalTypeName),
  ...settings,
  on_invalid: Type.Optional(OnInvalid),
  edit_inputs: Type.Optional(
    Type.Boolean({
      description:
        'Whether `x-inputs` of other fields get the new name; otherwise these refuse it (default).',
    }),
  ),
  note: changeNote,
  actor,
})

const wholeContract = {
  text: Type.String({ description: 'The whole text of the file, in place of `document`.' }),
  document: Type.Record(Type.String(), Type.Unknown(), {
    description:
      'The whole contract, as `GET /api/contract` returns it: the file is edited where it differs.',
  }),
}

const changedFields = {
  renamed: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      description:
        'New names of fields by their names before; a field with the same `id` needs none. Other fields that are absent are removed.',
    }),
  ),
  on_invalid: Type.Optional(
    Type.Record(Type.String(), OnInvalid, {
      description: 'By field: what becomes of values that do not fit its other type.',
    }),
  ),
  confirm: Type.Optional(
    Type.Record(Type.String(), Type.Integer({ minimum: 0 }), {
      description: 'The numbers of values that may be lost, by the names of removed fields.',
    }),
  ),
}

const changedDerivations = (least: number) =>
  Type.Record(Type.String(), Type.Union([Type.String(), Type.Null()]), {
    description:
      'The texts of derivation files that change together with the contract, by their names; null removes a file.',
    ...(least > 0 && inDocument({ minProperties: least })),
  })

const changedFiles = {
  derivations: Type.Optional(changedDerivations(0)),
  rename_in_derivations: Type.Optional(
    Type.Boolean({
      description:
        'Whether the texts of `derivations` name fields as before the change, so that `renamed` ones are edited in them too (default: false, the texts are taken as they are).',
    }),
  ),
  versions: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      description:
        'The versions that files of `derivations` must still have, by their names; otherwise the response is a 412.',
    }),
  ),
}

/** Body of `PUT /api/contract`. */
export const PutContractBody = closedObject({
  text: Type.Optional(wholeContract.text),
  document: Type.Optional(wholeContract.document),
  ...changedFields,
  ...changedFiles,
  note: changeNote,
  actor,
})

/** The members of a proposed change of the definition, in each of its forms. */
export const PROPOSED_DEFINITIONS = [
  { text: wholeContract.text, ...changedFields, ...changedFiles },
  { document: wholeContract.document, ...changedFields, ...changedFiles },
  { ...changedFiles, derivations: changedDerivations(1) },
] as const

/** Converts the members of a changed contract. */
export function toWholeContract(body: Partial<Static<typeof PutContractBody>>): WholeContract {
  const { text, document, renamed = {}, on_invalid: onInvalid = {} } = body
  const { confirm = {}, derivations: files = {}, versions = {} } = body
  const { rename_in_derivations: renameInDerivations } = body
  return {
    text,
    document,
    renamed: new Map(Object.entries(renamed)),
    converted: new Map(Object.entries(onInvalid)),
    confirmed: new Map(Object.entries(confirm)),
    derivations: new Map(Object.entries(files)),
    versions: new Map(Object.entries(versions)),
    renameInDerivations,
  }
}

const ContractDifference = Type.Object({
  change: Type.String({
    description: '`add`, `rename`, `retype`, `constraint`, `permission`, `reorder`, `remove` or `other`.',
  }),
  field: Type.Union([Type.String(), Type.Null()], {
    description: 'Null for a change of the whole contract.',
  }),
  from: Type.Optional(Type.String({ description: 'The name or type before, of `rename` and `retype`.' })),
  to: Type.Optional(Type.String({ description: 'The type after, of `retype`.' })),
  tightened: Type.Optional(
    Type.Boolean({ description: 'Of `constraint`: whether valid values can become invalid.' }),
  ),
})

/** Response of `PUT /api/contract`, and of the routes of properties with `dry_run`. */
export const ContractChangeAnswer = Type.Object({
  ...DefinitionChangeAnswer.properties,
  changes: Type.Array(ContractDifference, { description: 'What changes in the contract.' }),
  indexes: Type.Array(Type.Object({ field: Type.String(), change: Type.String() }), {
    description: 'The indexes of fields that are `created`, `dropped`, `rebuilt` or `renamed`.',
  }),
  breaks: Type.Array(Type.String(), {
    description:
      'The fields, by their names before, whose readers break: they are renamed, removed, or have another type.',
  }),
  edits: Type.Array(LineChangeAnswer, { description: 'The lines of the files that differ.' }),
  unedited: Type.Array(Type.String(), {
    description: 'The scripts that get a renamed field by its new name: they are not edited.',
  }),
})
export type ContractChangeAnswer = Static<typeof ContractChangeAnswer>

/** Response of the routes of properties: the contract, or with `dry_run` what would change. */
export const PropertyAnswer = Type.Union([ContractChangeAnswer, ContractAnswer])

/** Converts the effect of a change of the contract to the wire format. */
export function toContractChangeAnswer(report: ContractReport): ContractChangeAnswer {
  return {
    ...toDefinitionChangeAnswer(report),
    changes: report.changes.map((change) =>
      change.change === 'reorder' ? { change: 'reorder', field: null } : { ...change },
    ),
    indexes: report.indexes.map(({ field, change }) => ({ field, change })),
    breaks: [...report.breaks],
    edits: report.edits.map((edit) => ({ ...edit })),
    unedited: [...report.unedited],
  }
}

/** Converts the body of a new field. */
export function toNewField({ editable_by: editableBy, ...body }: Static<typeof AddPropertyBody>): NewField {
  const { name, logicalType, description, required, unique } = body
  return { name, logicalType, description: textOrNone(description), required, unique, editableBy }
}

/** Converts the body of a changed field. */
export function toFieldChange(body: Static<typeof ChangePropertyBody>): FieldChange {
  const { logicalType, description, required, unique } = body
  return {
    logicalType,
    description: textOrNone(description),
    required,
    unique,
    editableBy: body.editable_by,
    newName: body.new_name,
    onInvalid: body.on_invalid ?? 'refuse',
    editInputs: body.edit_inputs ?? false,
  }
}

function textOrNone(description: string | undefined): string | null | undefined {
  return description === '' ? null : description
}
