import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Option, type Argument, type Command } from 'commander'
import { isStoreUrl, STORE_VARIABLE } from '../../sheet/store-url.ts'

/** The parsed option of {@link addStoreOption}. */
export interface StoreFlags {
  readonly store?: string
}

/** Adds the argument `<sheet>`, which comes first; use it with {@link addStoreOption}. */
export function addSheetArgument(command: Command): Command {
  return command.argument('<sheet>', 'directory of the sheet; omit it with --store')
}

/** Adds `--store`. When it or its variable is set, the command takes no argument `<sheet>`. */
export function addStoreOption(command: Command): Command {
  const drop = (url: string): void => {
    const places = command.registeredArguments as Argument[]
    if (url !== '' && places[0]?.name() === 'sheet') places.shift()
  }
  return command
    .addOption(storeOption('store of the sheet, instead of a directory: postgres://…'))
    .on('option:store', drop)
    .on('optionEnv:store', drop)
}

/** Returns the option `--store` by itself. */
export function storeOption(description: string): Option {
  return new Option('--store <url>', description).env(STORE_VARIABLE)
}

type SheetWork = (flags: never, ...args: never[]) => Promise<void>

/**
 * Adapts the work of a command for commander: `work` receives the options with the place of the sheet, and the
 * arguments after `<sheet>`.
 */
export function onSheet(work: SheetWork): (...given: readonly unknown[]) => Promise<void> {
  return async (...given) => {
    const args = given.slice(0, -2)
    const [flags, command] = given.slice(-2) as [StoreFlags, Command]
    const { store = '' } = flags
    if (store !== '') checkStore(command, store, args)
    const sheet = store === '' ? String(args.shift()) : store
    await work({ ...flags, sheet } as never, ...(args as never[]))
  }
}

/** Returns the store of a command that requires one; exits when none is named. */
export function neededStore(command: Command, { store = '' }: StoreFlags): string {
  if (store === '') {
    command.error(`error: no store is given; use --store postgres://…, or set ${STORE_VARIABLE}`)
  }
  checkStoreUrl(command, store)
  return store
}

/** Exits when a URL is not that of a store. Never shows the URL, which may contain a password. */
function checkStoreUrl(command: Command, url: string): void {
  // Every user of a machine can read the arguments of its processes, so a long-running command hides the URL.
  if (process.argv.some((arg) => arg.includes(url))) process.title = `colophon ${command.name()}`
  if (!isStoreUrl(url)) {
    command.error(
      `error: --store or ${STORE_VARIABLE} is not the URL of a store, such as postgres://user@host/database?schema=name`,
    )
  }
}

function checkStore(command: Command, url: string, args: readonly unknown[]): void {
  checkStoreUrl(command, url)
  // A directory on the command line must not be ignored in favour of COLOPHON_STORE.
  const first = args.flat()[0]
  if (typeof first === 'string' && existsSync(join(first, 'contract.yaml'))) {
    command.error(
      `error: both a store and the directory ${first} are given; omit the directory, or --store and ${STORE_VARIABLE}`,
    )
  }
}

/** Returns the sheet's argument for hints of command lines. Never contains a URL. */
export function sheetWords(sheet: string): string {
  return isStoreUrl(sheet) ? '--store …' : sheet
}
