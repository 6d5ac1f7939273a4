/*
 * Writes the part of docs/reference/cli.md that describes each command, from the commands: `npm run docs:cli`. A test fails
 * when the page is outdated.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { format, resolveConfig } from 'prettier'
import { examplesOf } from '../src/cli/options/examples.ts'
import { createProgram } from '../src/cli/program.ts'

export const PAGE = join(import.meta.dirname, '..', 'docs', 'reference', 'cli.md')

/** The line between the written and the generated part of the page. */
const MARK = '<!-- What follows is written by `npm run docs:cli`. -->'

/** `serve` has a page of its own. */
const ELSEWHERE = new Map([
  ['serve', 'Its options are in the [option reference](options.md#colophon-serve).'],
])

/**
 * Returns the page with its generated part replaced.
 *
 * @param {string} page
 */
export async function withReference(page) {
  const end = page.indexOf(MARK)
  if (end === -1) throw new Error(`docs/reference/cli.md has no line ${MARK}`)
  const text = `${page.slice(0, end)}${MARK}\n\n${allCommands(createProgram()).map(sectionOf).join('\n\n')}\n`
  return format(text, { ...(await resolveConfig(PAGE)), parser: 'markdown' })
}

/**
 * Lists the subcommands of a command, each followed by its own.
 *
 * @param {import('commander').Command} parent
 * @returns {import('commander').Command[]}
 */
function allCommands(parent) {
  return parent.commands.flatMap((command) => [command, ...allCommands(command)])
}

/** @param {import('commander').Command} command */
function sectionOf(command) {
  const name = pathOf(command)
  const parts = [`## colophon ${name}`, `\`colophon ${name} ${command.usage()}\``, command.description()]
  const elsewhere = ELSEWHERE.get(name)
  if (elsewhere !== undefined) return [...parts, elsewhere].join('\n\n')
  if (command.registeredArguments.length > 0) {
    const rows = command.registeredArguments.map((argument) => [
      `\`${argument.required ? `<${nameOf(argument)}>` : `[${nameOf(argument)}]`}\``,
      argument.description,
    ])
    parts.push(table(['Argument', ''], rows))
  }
  const options = command.createHelp().visibleOptions(command)
  parts.push(
    table(
      ['Option', 'Default', ''],
      options.map((option) => [`\`${option.flags}\``, defaultOf(option), meaningOf(option)]),
    ),
  )
  const examples = examplesOf(command)
  if (examples.length > 0) {
    parts.push(`\`\`\`sh\n${examples.map(([line, what]) => `# ${what}\n${line}`).join('\n\n')}\n\`\`\``)
  }
  return parts.join('\n\n')
}

/**
 * Returns a command's name after `colophon`, such as `runs prune`.
 *
 * @param {import('commander').Command} command
 * @returns {string}
 */
function pathOf(command) {
  const { parent } = command
  return parent === null || parent.parent === null ? command.name() : `${pathOf(parent)} ${command.name()}`
}

/** @param {import('commander').Argument} argument */
function nameOf(argument) {
  return argument.name() + (argument.variadic ? '...' : '')
}

/** @param {import('commander').Option} option */
function defaultOf(option) {
  /** @type {unknown} */
  const value = option.defaultValueDescription ?? option.defaultValue
  if (option.envVar !== undefined) return `\`$${option.envVar}\``
  if (value === undefined) return ''
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``
}

/** @param {import('commander').Option} option */
function meaningOf({ description, argChoices }) {
  if (argChoices === undefined || argChoices.every((choice) => description.includes(choice)))
    return description
  return `${description}: ${argChoices.map((choice) => `\`${choice}\``).join(', ')}`
}

/**
 * @param {readonly string[]} header
 * @param {readonly (readonly string[])[]} rows
 */
function table(header, rows) {
  const lines = [
    header,
    header.map(() => '---'),
    ...rows.map((row) => row.map((cell) => cell.replaceAll('|', '\\|'))),
  ]
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

if (import.meta.main) await writeFile(PAGE, await withReference(await readFile(PAGE, 'utf8')))
