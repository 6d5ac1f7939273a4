import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Option, type Argument, type Command } from 'commander'
import { isStoreUrl, STORE_VARIABLE } from '../../sheet/store-url.ts'

/** What commander makes of {@link addStoreOption}. */
export interface StoreFlags {
  readonly store?: string
}

/** Adds the argument `<sheet>`, which comes first; {@link addStoreOption} belongs to it. */
export function addSheetArgument(command: Command): Command {
  return command.argument('<sheet>', 'directory of the sheet; left out where a store is named')
}

/** Adds `--store`: where it is given, or its variable is set, the command takes no argument `<sheet>`. */
export function addStoreOption(command: Command): Command {
  const drop = (url: string): void => {
    const places = command.registeredArguments as Argument[]
    if (url !== '' && places[0]?.name() === 'sheet') places.shift()
  }
  return command
    .addOption(storeOption('the sheet of this store instead of a directory: postgres://…'))
    .on('option:store', drop)
    .on('optionEnv:store', drop)
}

/** The option `--store` on its own. */
export function storeOption(description: string): Option {
  return new Option('--store <url>', description).env(STORE_VARIABLE)
}

type SheetWork = (flags: never, ...args: never[]) => Promise<void>

/**
 * What a command does with a sheet, as commander calls it: `work` is told where the sheet is, and is given the arguments that come
 * after `<sheet>`.
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

/** The store that a command cannot do without; fails where none is named. */
export function neededStore(command: Command, { store = '' }: StoreFlags): string {
  if (store === '') {
    command.error(`error: which store? Name it with --store postgres://…, or in ${STORE_VARIABLE}`)
  }
  checkStoreUrl(command, store)
  return store
}

/** Fails, without showing the URL, which may have a password in it. */
function checkStoreUrl(command: Command, url: string): void {
  // Everybody on a machine can read how its processes were called, and most do not go away at once.
  if (process.argv.some((arg) => arg.includes(url))) process.title = `colophon ${command.name()}`
  if (!isStoreUrl(url)) {
    command.error(
      `error: --store or ${STORE_VARIABLE} is no URL of a store, such as postgres://user@host/database?schema=name`,
    )
  }
}

function checkStore(command: Command, url: string, args: readonly unknown[]): void {
  checkStoreUrl(command, url)
  // Whoever names a directory means it, and must not change something else.
  const first = args.flat()[0]
  if (typeof first === 'string' && existsSync(join(first, 'contract.yaml'))) {
    command.error(
      `error: both a store and the directory ${first} are named; leave out the directory, or --store and ${STORE_VARIABLE}`,
    )
  }
}

/** What hints call a sheet on the command line. A URL is never shown. */
export function sheetWords(sheet: string): string {
  return isStoreUrl(sheet) ? '--store …' : sheet
}
