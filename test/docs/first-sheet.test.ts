import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { API_PORT, startApi } from '../../examples/countries/api/server.mjs'
import { ColophonProcess } from '../support/colophon-process.ts'
import { codeBlocks, readPage, type CodeBlock } from '../support/markdown.ts'
import { onEnd } from '../support/on-end.ts'
import { commandsOf, comparable, curlMissing, runShell } from '../support/shell-commands.ts'

const page = readPage('docs/guides/first-sheet.md')
const blocks = codeBlocks(page)

/** The file that a block is to be saved as, when the text before it says so. */
function fileOf({ before }: CodeBlock): string | undefined {
  return /Save this as `([^`]+)`:$/.exec(before.replaceAll('\n', ' '))?.[1]
}

/** The commands that the guide has run in the last terminal, and what it shows of their output. */
function steps(): { commands: string[]; shown: string | null }[] {
  return blocks.flatMap((block, index) => {
    const commands = block.lang === 'sh' ? commandsOf(block.text) : []
    if (!commands.some((command) => command.includes('curl'))) return []
    const next = blocks[index + 1]
    return [{ commands, shown: next?.lang === 'json' && fileOf(next) === undefined ? next.text : null }]
  })
}

/** The arguments of `colophon serve` in the guide: what follows `npm start --`. */
function serveArguments(): string[] {
  const [line, second] = [...page.matchAll(/^npm start -- (.+)$/gm)].map(([, rest = '']) => rest)
  assert.ok(line !== undefined && second === undefined)
  return line.split(' ')
}

/** Makes the guide's files in a directory of their own, with the API where it is. */
async function makeSheet(t: TestContext, apiPort: number): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'colophon-guide-'))
  onEnd(t, () => rm(root, { recursive: true, force: true }))
  const files = blocks.flatMap((block) => {
    const name = fileOf(block)
    return name === undefined ? [] : [[name, block.text] as const]
  })
  assert.deepEqual(
    files.map(([name]) => name),
    ['contract.yaml', 'records.jsonl', 'derivations/country-name.yaml'].map((name) => `my-sheet/${name}`),
  )
  for (const [name, text] of files) {
    await mkdir(dirname(join(root, name)), { recursive: true })
    await writeFile(join(root, name), text.replaceAll(`127.0.0.1:${API_PORT}`, `127.0.0.1:${apiPort}`))
  }
  return root
}

/** What the guide has done under "Change the derivation". */
async function changeDerivation(root: string): Promise<void> {
  const [, name = '', url = '', path = ''] =
    /Edit `([^`]+)`: put `([^`]+)` into the URL and `([^`]+)` into the path/.exec(page) ?? []
  const file = join(root, name)
  const before = await readFile(file, 'utf8')
  const after = before.replace(/languages=\w+/, url).replace(/names\.\w+/, path)
  assert.ok(after !== before && after.includes(url) && after.includes(path))
  await writeFile(file, after)
}

test('the first sheet comes out as its guide shows it, step by step', { skip: curlMissing }, async (t) => {
  const api = await startApi({ port: 0 })
  onEnd(t, () => api.close())
  const root = await makeSheet(t, api.port)
  const [directory = '', ...options] = serveArguments()
  const server = new ColophonProcess(t, ['serve', join(root, directory), ...options, '--port', '0'])
  const port = await server.port()
  const asked = options[options.indexOf('--port') + 1]
  const local = (command: string): string =>
    command
      .replaceAll(`127.0.0.1:${asked}`, `127.0.0.1:${port}`)
      .replaceAll(`127.0.0.1:${API_PORT}`, `127.0.0.1:${api.port}`)

  let token: string | undefined
  const all = steps()
  assert.equal(all.filter(({ shown }) => shown !== null).length, 8)
  for (const [index, { commands, shown }] of all.entries()) {
    if (index === all.length - 1) await changeDerivation(root)
    // Each step is a shell of its own here; what one sets the next ones know.
    const known = token === undefined ? [] : [token]
    const { outputs, statuses } = await runShell([...known, ...commands].map(local))
    assert.deepEqual(new Set(statuses), new Set(['200']), commands.join('\n'))
    token ??= commands.find((command) => command.startsWith('TOKEN='))
    if (shown === null) continue
    assert.equal(
      JSON.stringify(comparable(outputs.at(-1) ?? '')),
      JSON.stringify(comparable(shown)),
      commands.at(-1),
    )
  }
})
