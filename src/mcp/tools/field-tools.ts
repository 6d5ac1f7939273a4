import {
  addContractField,
  changeContractField,
  removeContractField,
  type ContractOptions,
  type ContractReport,
} from '../../sheet/definition/change/change-fields.ts'
import { toContractChangeAnswer, toFieldChange, toNewField } from '../../wire/definition/contract-changes.ts'
import { FieldToolAnswer } from '../../wire/definition-tool-answers.ts'
import {
  AddFieldInput,
  ChangeFieldInput,
  RemoveFieldInput,
  RenameFieldInput,
} from '../../wire/definition-tool-inputs.ts'
import type { Static } from 'typebox'
import { definitionText } from './definition-text.ts'
import { defineTool, type ToolContext, type ToolResult } from './tool.ts'

/** Changes the definition; a dry run changes nothing. */
export const CHANGES_DEFINITION = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: false,
}

export const addFieldTool = defineTool({
  name: 'add_field',
  title: 'Add a field',
  description:
    'Adds a field at the end of the contract, without values; with derivations also the file that computes it, both or neither. ' +
    'Set dry_run first: it has the cells to compute, the calls and their cost.',
  input: AddFieldInput,
  output: FieldToolAnswer,
  annotations: CHANGES_DEFINITION,
  async run(input, context) {
    return result(await addContractField(context.sheet, toNewField(input), optionsOf(input, context)))
  },
})

export const changeFieldTool = defineTool({
  name: 'change_field',
  title: 'Change a field',
  description:
    'Changes the type, meaning, constraints or permissions of a field. Values are converted to another type: those that do not ' +
    'fit refuse the change, or are lost with on_invalid. Set dry_run first: it lists them.',
  input: ChangeFieldInput,
  output: FieldToolAnswer,
  annotations: CHANGES_DEFINITION,
  run: changeField,
})

export const renameFieldTool = defineTool({
  name: 'rename_field',
  title: 'Rename a field',
  description:
    'Renames a field. Its values and their history are kept, and derivations that name it are edited. Set dry_run first: it ' +
    'returns the edited lines.',
  input: RenameFieldInput,
  output: FieldToolAnswer,
  annotations: CHANGES_DEFINITION,
  run: changeField,
})

export const removeFieldTool = defineTool({
  name: 'remove_field',
  title: 'Remove a field',
  description:
    'Removes a field. One that a derivation computes is removed together with its file, which derivations sets to null. Its values stay in the log, and a revert of the change brings them back. Set ' +
    'dry_run first: a field with values needs confirm with their number.',
  input: RemoveFieldInput,
  output: FieldToolAnswer,
  annotations: CHANGES_DEFINITION,
  async run({ field, confirm = null, ...input }, context) {
    return result(await removeContractField(context.sheet, field, { ...optionsOf(input, context), confirm }))
  },
})

async function changeField(
  { field, ...input }: Given & Parameters<typeof toFieldChange>[0] & { readonly field: string },
  context: ToolContext,
): Promise<ToolResult<Static<typeof FieldToolAnswer>>> {
  const change = toFieldChange(input)
  return result(await changeContractField(context.sheet, field, { ...optionsOf(input, context), change }))
}

interface Given {
  readonly note?: string
  readonly if_version?: string
  readonly derivations?: Readonly<Record<string, string | null>>
  readonly dry_run?: boolean
}

function optionsOf(given: Given, { actor, scope }: ToolContext): ContractOptions {
  const { note = null, if_version: version, dry_run: dryRun = false, derivations = {} } = given
  const ifMatch = version === undefined ? null : [version]
  return {
    actor,
    note,
    dryRun,
    ifMatch,
    proposes: scope.mode === 'propose',
    derivations: new Map(Object.entries(derivations)),
  }
}

function result(report: ContractReport): ToolResult<Static<typeof FieldToolAnswer>> {
  const answer = toContractChangeAnswer(report)
  const { proposed } = report
  return {
    structured: { ...answer, ...(proposed !== null && { proposal: proposed }) },
    text: definitionText(answer, proposed),
  }
}
