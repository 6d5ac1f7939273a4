import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ColophonProcess } from '../support/colophon-process.ts'
import { exampleSheet } from '../support/example.ts'
import { codeBlocks, readPage } from '../support/markdown.ts'
import { onEnd } from '../support/on-end.ts'
import { commandsOf, comparable, curlMissing, runShell } from '../support/shell-commands.ts'

const blocks = codeBlocks(readPage('README.md'))

test('the npm commands of the README are scripts of the package', () => {
  const { scripts } = JSON.parse(readPage('package.json')) as { scripts: Record<string, string> }
  const [first] = blocks
  const names = commandsOf(first?.text ?? '').map((line) => /^npm (\w+)/.exec(line)?.[1] ?? line)
  assert.deepEqual(names, ['start', 'test'])
  for (const name of names) assert.ok(Object.hasOwn(scripts, name), name)
})

test('the commands of the README return 200 and the shown response', { skip: curlMissing }, async (t) => {
  const shell = blocks.find(({ lang }) => lang === 'sh')
  const shown = blocks.find(({ lang }) => lang === 'json')
  assert.ok(shell && shown)
  const example = await exampleSheet()
  onEnd(t, () => example.cleanup())
  // As `npm start` does it, but for the ports.
  const server = new ColophonProcess(t, ['serve', example.path, '--port', '0', '--actor', 'human:you'])
  const port = await server.port()
  const commands = commandsOf(shell.text.replaceAll('localhost:3000', `localhost:${port}`))
  const { outputs, statuses } = await runShell(commands)
  assert.equal(statuses.length, commands.length, 'each command has one curl')
  assert.deepEqual(new Set(statuses), new Set(['200']))

  const [page, filtered, token, plan, run, provenance] = outputs
  assert.equal(outputs.length, 6)
  const { records } = JSON.parse(page ?? '') as { records: object[] }
  assert.deepEqual(
    records.map((record) => Object.keys(record)),
    [
      ['id', 'name', 'currency', 'currency_name'],
      ['id', 'name', 'currency', 'currency_name'],
    ],
  )
  const asia = (JSON.parse(filtered ?? '') as { records: { region: string; area: number }[] }).records
  assert.ok(asia.length > 0 && asia.every(({ region, area }) => region === 'Asia' && area > 1e6))
  assert.equal(token, '')
  const { calls, cost } = JSON.parse(plan ?? '') as { calls: number; cost: number }
  assert.ok(calls > 1000 && cost > 0.1)
  assert.ok((JSON.parse(run ?? '') as { materialized: number }).materialized > 2000)
  assert.equal(JSON.stringify(comparable(provenance ?? '')), JSON.stringify(comparable(shown.text)))
})
