import { readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { dirname, join } from 'node:path'

/*
 * The files of the program. Its modules are TypeScript files in folders in the repository, and bundles in one folder
 * otherwise.
 */

/** Returns the version of the program. */
export function packageVersion(): string {
  return (JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: string }).version
}

/** Returns the path of a file of the package, given as its path from the root of the package. */
export function packageFile(...path: readonly string[]): string {
  return join(dirname(findPackageJSON('..', import.meta.url) ?? ''), ...path)
}

/**
 * Returns the URL of a module that runs in a thread or process of its own. `scripts/bundle.mjs` makes a bundle for each that a
 * call like this names.
 *
 * @param asker `import.meta.url` of a module in the same folder
 * @param name without an extension, such as `writer-thread`
 */
export function entryModule(asker: string, name: string): URL {
  return new URL(`./${name}${asker.slice(asker.lastIndexOf('.'))}`, asker)
}
