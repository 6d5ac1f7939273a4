import {
  addContractField,
  changeContractField,
  derivationRemoved,
  removeContractField,
  type ContractOptions,
  type ContractReport,
  type FieldChange,
} from '../../../sheet/definition/change/change-fields.ts'
import { toContractChangeAnswer } from '../../../wire/definition/contract-changes.ts'
import type { CommandContext } from '../../options/command-context.ts'
import { writerOf } from '../../options/required-actor.ts'
import { UsageError } from '../../options/usage-error.ts'
import { canAsk, confirm as ask } from '../../terminal/confirm.ts'
import { EXIT, type ExitCode } from '../../terminal/exit-codes.ts'
import { plainScreen } from '../../terminal/terminal.ts'
import type { ChangeFlags } from './run-derivation.ts'
import { fieldText } from './field-text.ts'

/** Adds a field. Throws as {@link addContractField} does. */
export async function runAdd(
  context: CommandContext,
  field: Parameters<typeof addContractField>[1],
  flags: ChangeFlags,
): Promise<ExitCode> {
  return print(context, await addContractField(context.sheet, field, optionsOf(context, flags)))
}

/** Changes settings of a field. Throws as {@link changeContractField} does, and UsageError without a setting. */
export async function runChange(
  context: CommandContext,
  name: string,
  { change, ...flags }: ChangeFlags & { readonly change: Omit<FieldChange, 'newName' | 'editInputs'> },
): Promise<ExitCode> {
  const { onInvalid, ...settings } = change
  if (Object.values(settings).every((value) => value === undefined)) {
    throw new UsageError(
      'nothing to change is given; use --type, --description, --required, --unique or --editable-by',
    )
  }
  if (onInvalid === 'null' && settings.logicalType === undefined) {
    throw new UsageError('--on-invalid requires --type')
  }
  const options = { ...optionsOf(context, flags), change: { ...change, editInputs: false } }
  return print(context, await changeContractField(context.sheet, name, options))
}

/** Renames a field. Throws as {@link changeContractField} does. */
export async function runRename(
  context: CommandContext,
  {
    name,
    newName,
    editInputs,
  }: { readonly name: string; readonly newName: string; readonly editInputs: boolean },
  flags: ChangeFlags,
): Promise<ExitCode> {
  const change: FieldChange = { newName, editInputs, onInvalid: 'refuse' }
  const options = { ...optionsOf(context, flags), change }
  return print(context, await changeContractField(context.sheet, name, options))
}

/** Removes a field; without a number it asks at a terminal, after showing the effect. Throws as {@link removeContractField} does. */
export async function runRemove(
  context: CommandContext,
  name: string,
  {
    confirm,
    withDerivation,
    ...flags
  }: ChangeFlags & { readonly confirm: number | null; readonly withDerivation: boolean },
): Promise<ExitCode> {
  const { sheet, out } = context
  const derivations = withDerivation ? await derivationRemoved(sheet, name) : null
  const options = { ...optionsOf(context, flags), ...(derivations !== null && { derivations }) }
  if (confirm !== null || flags.dryRun || !canAsk()) {
    return print(context, await removeContractField(sheet, name, { ...options, confirm }))
  }
  const { fields } = await removeContractField(sheet, name, { ...options, dryRun: true, confirm })
  const lost = fields.fields.find(({ change }) => change === 'removed')?.lost ?? 0
  const plan = await removeContractField(sheet, name, { ...options, dryRun: true, confirm: lost })
  const shown = toContractChangeAnswer(plan)
  // Messages escape colours.
  out.note(fieldText(shown, plainScreen(out.screen.columns)))
  if (shown.conflicts.length > 0) return EXIT.error
  const answer = await ask(`Remove ${name}?`)
  if (answer !== 'yes') {
    out.note('Nothing was changed.')
    return answer === 'interrupted' ? EXIT.interrupted : EXIT.error
  }
  return print(context, await removeContractField(sheet, name, { ...options, confirm: lost }))
}

function optionsOf({ sheet }: CommandContext, { note, dryRun }: ChangeFlags): ContractOptions {
  return { note, dryRun, actor: writerOf(sheet), ifMatch: null }
}

async function print({ out }: CommandContext, report: ContractReport): Promise<ExitCode> {
  const answer = toContractChangeAnswer(report)
  await out.print(answer, (screen) => fieldText(answer, screen))
  return answer.conflicts.length > 0 ? EXIT.error : EXIT.done
}
