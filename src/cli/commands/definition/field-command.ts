import { Command, Option } from 'commander'
import type { FieldChange } from '../../../sheet/definition/change/change-fields.ts'
import { addSheetOptions, withSheet, type SheetFlags } from '../../options/command-context.ts'
import { addExamples } from '../../options/examples.ts'
import { integerBetween } from '../../options/option-values.ts'
import { parseList } from '../../options/record-options.ts'
import { addSheetArgument, onSheet } from '../../options/sheet-argument.ts'

type LogicalType = NonNullable<FieldChange['logicalType']>

/** The types, in the order of the help; the type check finds one that is missing. */
const TYPES: Readonly<Record<LogicalType, true>> = {
  string: true,
  integer: true,
  number: true,
  boolean: true,
  date: true,
  timestamp: true,
  time: true,
  array: true,
  object: true,
}

interface ChangeFlags extends SheetFlags {
  readonly note?: string
  readonly dryRun?: true
}

interface SettingFlags extends ChangeFlags {
  readonly type?: LogicalType
  readonly description?: string
  readonly required?: boolean
  readonly unique?: boolean
  readonly editableBy?: readonly string[]
}

/** `colophon field add|change|rename|remove <sheet> <name>`. */
export function fieldCommand(): Command {
  const command = new Command('field')
    .description('Add, change, rename or remove fields of the contract.')
    .helpCommand(false)
    .enablePositionalOptions()
    .addCommand(addCommand())
    .addCommand(changeCommand())
    .addCommand(renameCommand())
    .addCommand(removeCommand())
  return addExamples(command, [
    ['colophon field add countries motto --type string --actor human:ann', 'Add a field'],
    [
      'colophon field rename countries area area_km2 --dry-run --actor human:ann',
      'What a new name would change',
    ],
  ])
}

function addCommand(): Command {
  const command = addSettings(
    withName(new Command('add').description('Add a field at the end of the contract.')),
    typeOption('type of its values').makeOptionMandatory(),
  )
    .option('--required', 'every record has a value; only where there are no records')
    .option('--unique', 'no two records have the same value')
  addExamples(command, [
    [
      'colophon field add countries motto --type string --description "In English" --actor human:ann',
      'Add a field',
    ],
    [
      'colophon field add countries note --type string --editable-by "human:*" --actor human:ann',
      'One that only people may write',
    ],
  ])
  return addChangeOptions(command).action(
    onSheet((flags: SettingFlags & { readonly type: LogicalType }, name: string) =>
      withSheet(flags, async (context) => {
        const { runAdd } = await import('./run-field.ts')
        return runAdd(context, { name, ...settingsOf(flags), logicalType: flags.type }, changeOf(flags))
      }),
    ),
  )
}

function changeCommand(): Command {
  const command = addSettings(
    withName(
      new Command('change').description(
        'Change the type, the description, the constraints or the permission of a field.',
      ),
    ),
    typeOption('another type; values are converted'),
  )
    .addOption(
      new Option('--on-invalid <how>', 'with --type: values that do not fit refuse the change, or are lost')
        .choices(['refuse', 'null'])
        .default('refuse'),
    )
    .option('--required', 'every record must have a value')
    .option('--no-required', 'records may lack a value')
    .option('--unique', 'no two records may have the same value')
    .option('--no-unique', 'records may have the same value')
  addExamples(command, [
    [
      'colophon field change countries population --type integer --dry-run --actor human:ann',
      'How many values could be converted',
    ],
    [
      'colophon field change countries population --type integer --on-invalid null --actor human:ann',
      'Convert them, and lose those that do not fit',
    ],
  ])
  return addChangeOptions(command).action(
    onSheet((flags: SettingFlags & { readonly onInvalid: 'refuse' | 'null' }, name: string) =>
      withSheet(flags, async (context) => {
        const { runChange } = await import('./run-field.ts')
        const change = { ...settingsOf(flags), onInvalid: flags.onInvalid }
        return runChange(context, name, { change, ...changeOf(flags) })
      }),
    ),
  )
}

function renameCommand(): Command {
  const command = withName(
    new Command('rename').description(
      'Rename a field, also in the derivations that name it; its values and their history are kept.',
    ),
  )
    .argument('<new-name>', 'name after the change')
    .option(
      '--edit-inputs',
      'also write the new name into x-inputs of other fields; otherwise these refuse the change',
    )
  addExamples(command, [
    [
      'colophon field rename countries area area_km2 --dry-run --actor human:ann',
      'The lines that would change',
    ],
    ['colophon field rename countries area area_km2 --actor human:ann', 'Rename it'],
  ])
  return addChangeOptions(command).action(
    onSheet((flags: ChangeFlags & { readonly editInputs?: true }, name: string, newName: string) =>
      withSheet(flags, async (context) => {
        const { runRename } = await import('./run-field.ts')
        const names = { name, newName, editInputs: flags.editInputs === true }
        return runRename(context, names, changeOf(flags))
      }),
    ),
  )
}

function removeCommand(): Command {
  const command = withName(
    new Command('remove').description(
      'Remove a field and its values, which stay in the log. Asks at a terminal.',
    ),
  )
    .addOption(
      new Option(
        '--confirm <count>',
        'do not ask: the number of values that are lost; not needed for a field without values',
      ).argParser(integerBetween(0, Number.MAX_SAFE_INTEGER)),
    )
    .option('--derivation', 'also remove the derivation file that computes the field')
  addExamples(command, [
    ['colophon field remove countries motto --actor human:ann', 'Show the effect, ask, and remove it'],
    ['colophon field remove countries motto --confirm 250 --actor human:ann', 'Without a question'],
    [
      'colophon field remove countries rate --derivation --dry-run --actor human:ann',
      'A computed field with its derivation',
    ],
  ])
  return addChangeOptions(command).action(
    onSheet((flags: ChangeFlags & { readonly confirm?: number; readonly derivation?: true }, name: string) =>
      withSheet(flags, async (context) => {
        const { runRemove } = await import('./run-field.ts')
        const options = { confirm: flags.confirm ?? null, withDerivation: flags.derivation === true }
        return runRemove(context, name, { ...options, ...changeOf(flags) })
      }),
    ),
  )
}

function withName(command: Command): Command {
  return addSheetArgument(command).argument('<name>', 'name of the field')
}

function typeOption(description: string): Option {
  return new Option('--type <type>', description).choices(Object.keys(TYPES))
}

function addSettings(command: Command, type: Option): Command {
  return command
    .addOption(type)
    .option('--description <text>', 'what the field means; an empty text for none')
    .addOption(
      new Option(
        '--editable-by <patterns>',
        'actors who may write the field, separated by commas, such as human:*',
      ).argParser(parseList),
    )
}

function addChangeOptions(command: Command): Command {
  command
    .option('--note <text>', 'reason, for the history')
    .option('--dry-run', 'only show what the change would do')
  return addSheetOptions(command, { writes: true })
}

function changeOf({ note, dryRun }: ChangeFlags): { readonly note: string | null; readonly dryRun: boolean } {
  return { note: note ?? null, dryRun: dryRun === true }
}

function settingsOf({ type, description, required, unique, editableBy }: SettingFlags) {
  return {
    logicalType: type,
    description: description === '' ? null : description,
    required,
    unique,
    editableBy,
  }
}
