import { Type, type TProperties } from 'typebox'
import { closedObject } from './schema/closed-object.ts'
import { PageInput } from './tool-inputs.ts'
import { RevertChangeBody } from './definition/change.ts'
import { AddPropertyBody, ChangePropertyBody } from './definition/contract-changes.ts'
import { PreviewBody } from './definition/preview.ts'

const dryRun = Type.Optional(
  Type.Boolean({ description: 'True returns the effect, and changes nothing. Do this first.' }),
)
const note = Type.Optional(
  Type.String({ maxLength: 1000, description: 'The reason, for the history of the definition.' }),
)
const contractVersion = Type.Optional(
  Type.String({
    minLength: 1,
    description: 'The SHA-256 of contract.yaml from a dry run: refused if the file has changed since.',
  }),
)
const fileVersion = Type.Optional(
  Type.String({
    minLength: 1,
    description: 'The version from get_derivation: refused if the file has changed since.',
  }),
)
const field = Type.String({ minLength: 1, title: 'a field name', description: 'A field of the contract.' })
const file = Type.String({
  minLength: 1,
  title: 'a file name',
  description: 'The name of a derivation file, such as rate.yaml; list_derivations returns them.',
})
const derivations = Type.Optional(
  Type.Record(Type.String(), Type.Union([Type.String(), Type.Null()]), {
    description:
      'The whole texts of derivation files that change together with the field, by their names, such as one that computes it; null removes a file.',
  }),
)
const confirm = Type.Optional(
  Type.Integer({
    minimum: 0,
    description: 'The number of values that may be lost; a dry run without it returns the number.',
  }),
)

/** Returns properties without the actor, which is the scope's. */
function withoutActor<P extends TProperties>({ actor: _, ...properties }: P): Omit<P, 'actor'> {
  return properties
}

const {
  new_name: _newName,
  edit_inputs: editInputs,
  ...settings
} = withoutActor(ChangePropertyBody.properties)

export const AddFieldInput = closedObject({
  ...withoutActor(AddPropertyBody.properties),
  note,
  derivations,
  if_version: contractVersion,
  dry_run: dryRun,
})

export const ChangeFieldInput = closedObject({
  field,
  ...settings,
  note,
  derivations,
  if_version: contractVersion,
  dry_run: dryRun,
})

export const RenameFieldInput = closedObject({
  field,
  new_name: Type.String({
    maxLength: 200,
    description: 'Another name, also in the derivations that name the field.',
  }),
  edit_inputs: editInputs,
  note,
  derivations,
  if_version: contractVersion,
  dry_run: dryRun,
})

export const RemoveFieldInput = closedObject({
  field,
  confirm,
  note,
  derivations,
  if_version: contractVersion,
  dry_run: dryRun,
})

export const DerivationInput = closedObject({ file })

export const PreviewDerivationInput = closedObject({
  file,
  text: PreviewBody.properties.text,
  record_ids: PreviewBody.properties.record_ids,
  sample: PreviewBody.properties.sample,
  seed: PreviewBody.properties.seed,
  max_cost: PreviewBody.properties.max_cost,
})

export const SetDerivationInput = closedObject({
  file,
  text: Type.String({ description: 'The whole text of the file, YAML.' }),
  keep_fresh: Type.Optional(
    Type.Boolean({
      description: 'True marks the values of the edited file as fresh, for an edit that changes no value.',
    }),
  ),
  note,
  if_version: fileVersion,
  dry_run: dryRun,
})

export const RemoveDerivationInput = closedObject({
  file,
  note,
  if_version: fileVersion,
  dry_run: dryRun,
})

export const ChangePageInput = PageInput

const change = Type.String({
  minLength: 1,
  title: 'the id of a change, a string',
  description: 'The id of a change, a string; list_definition_changes returns them.',
})

export const ChangeInput = closedObject({ change })

export const RevertChangeInput = closedObject({
  change,
  confirm: RevertChangeBody.properties.confirm,
  note,
  dry_run: dryRun,
})
