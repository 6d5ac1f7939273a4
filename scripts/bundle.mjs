/*
 * Bundles the program into few files, which load faster than a thousand. Packages in `dependencies` stay outside, since they
 * are loaded when they are first used.
 *
 *   node scripts/bundle.mjs [folder]
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { rolldown } from 'rolldown'
import { ROOT } from './node24.mjs'

const SOURCE = join(ROOT, 'src')

/** A call of `entryModule` in `src/package`. */
const ENTRY_MODULE = /entryModule\(\s*import\.meta\.url,\s*'([\w-]+)'/g

/**
 * Files that are loaded as a whole: modules with all that they import and no earlier file has. The first is small, so that
 * the writing thread starts while the others are loaded.
 */
const GROUPS = [
  { name: 'commands', test: /src.cli.main\.ts$/ },
  { name: 'sheet', test: /src.(sheet.open-sheet|cli.options.(call-transport|command-context))\.ts$/ },
  {
    name: 'engine',
    test: /src.(index\.ts|sheet.(cells|definition|preview|queries|runs|schema|writes).[^/]*\.ts)$/,
  },
  { name: 'wire', test: /src.wire./ },
].map((group, index) => ({ ...group, priority: 10 - index }))

const folder = resolve(process.argv[2] ?? join(ROOT, 'dist'))
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
// Declarations need the types of typebox.
const outside = Object.keys(dependencies).filter((name) => name !== 'typebox')

const bundled = [
  await bundle(['cli/main.ts', 'index.ts'], GROUPS),
  await bundle(['client/client.ts']),
  ...(await Promise.all(entryModules().map((file) => bundle([file])))),
].flat()
writeFileSync(join(folder, 'LICENSES.txt'), licensesOf(new Set(bundled)))

/** Returns the modules that run in a thread or process of their own, as sources name them; each loads nothing that it does not use. */
function entryModules() {
  return readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .flatMap((file) => {
      const calls = readFileSync(join(SOURCE, file), 'utf8').matchAll(ENTRY_MODULE)
      return [...calls].map(([, name = '']) => join(dirname(file), `${name}.ts`))
    })
}

/**
 * Bundles files of the source folder, and returns the paths of the modules that they need.
 *
 * @param {readonly string[]} files
 * @param {import('rolldown').CodeSplittingOptions['groups']} [groups]
 */
async function bundle(files, groups = []) {
  const build = await rolldown({
    input: Object.fromEntries(files.map((file) => [basename(file, '.ts'), join(SOURCE, file)])),
    platform: 'node',
    cwd: ROOT,
    external: (id) => outside.some((name) => id === name || id.startsWith(`${name}/`)),
    // A module that most need is imported both ways.
    checks: { ineffectiveDynamicImport: false },
  })
  const { output } = await build.generate({
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    codeSplitting: { groups },
    comments: false,
  })
  await build.close()
  const chunks = output.filter((file) => file.type === 'chunk')
  for (const { fileName, code } of chunks) writeFileSync(join(folder, fileName), latin1(code))
  return chunks.flatMap(({ moduleIds }) => moduleIds)
}

/**
 * Escapes characters beyond Latin-1, with which a file would take twice the memory.
 *
 * @param {string} code
 */
function latin1(code) {
  return code.replaceAll(/[^\0-\xff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/**
 * Returns the licenses of the packages of these modules.
 *
 * @param {ReadonlySet<string>} modules
 */
function licensesOf(modules) {
  const inPackage = new RegExp(
    `^(.*\\${sep}node_modules\\${sep}(?:@[^\\${sep}]+\\${sep})?[^\\${sep}]+)\\${sep}`,
  )
  const folders = new Set([...modules].flatMap((id) => inPackage.exec(id)?.[1] ?? []))
  const texts = [...folders].toSorted().map((path) => {
    const { name, version, license } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'))
    const file = readdirSync(path).find((entry) => /^licen[cs]e(\.|$)/i.test(entry))
    return `${name} ${version}\n\n${file === undefined ? `License: ${license}` : readFileSync(join(path, file), 'utf8').trim()}\n`
  })
  return `The files of this folder contain the following packages.\n\n${texts.join(`\n${'-'.repeat(80)}\n\n`)}`
}
