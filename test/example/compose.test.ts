import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { parse } from 'yaml'
import { createProgram } from '../../src/cli/program.ts'
import { ColophonProcess } from '../support/colophon-process.ts'
import { findNginx } from '../support/find-program.ts'
import { CSRF } from '../support/http-fixture.ts'
import { startNginx } from '../support/nginx.ts'
import { startPostgres } from '../support/postgres.ts'
import { runColophon } from '../support/run-colophon.ts'
import { writeSheet } from '../support/sheet-fixture.ts'

const DIRECTORY = join(import.meta.dirname, '..', '..', 'examples', 'postgresql')

interface Service {
  readonly image: string
  readonly command?: string | readonly string[]
  readonly volumes?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly depends_on?: Readonly<Record<string, unknown>>
}

const compose = parse(readFileSync(join(DIRECTORY, 'compose.yaml'), 'utf8'), { merge: true }) as {
  readonly services: Readonly<Record<string, Service>>
}
const services = Object.entries(compose.services)
const ours = services.filter(([, { image }]) => image === 'colophon')

/** The words of the command of a service of ours. */
function wordsOf({ command }: Service): readonly string[] {
  return typeof command === 'string' ? command.trim().split(/\s+/) : (command ?? [])
}

test('the commands of the compose file exist, with the options that it passes', () => {
  assert.deepEqual(
    ours.map(([name]) => name),
    ['push', 'server-1', 'server-2', 'worker'],
  )
  const { commands } = createProgram()
  for (const [service, each] of ours) {
    const [name, ...args] = wordsOf(each)
    const command = commands.find((one) => one.name() === name)
    assert.ok(command !== undefined, `${service}: there is no command ${name}`)
    const known = command.options.map(({ long }) => long)
    for (const option of args.filter((arg) => arg.startsWith('--'))) {
      assert.ok(known.includes(option), `${service}: ${name} has no option ${option}`)
    }
    assert.match(each.environment?.['COLOPHON_STORE'] ?? '', /^postgres:\/\/colophon@db:5432\//)
  }
})

test('the files that the compose file names exist', () => {
  for (const [name, { volumes = [], depends_on: dependencies = {} }] of services) {
    for (const other of Object.keys(dependencies)) assert.ok(other in compose.services, `${name}: ${other}`)
    for (const file of volumes.map((volume) => volume.split(':')[0] ?? '')) {
      // The last two are the operator's own.
      if (/^\.\.?\//.test(file) && !/htpasswd|certificates/.test(file)) {
        assert.ok(existsSync(join(DIRECTORY, file)), `${name}: ${file}`)
      }
    }
  }
})

const { path: nginx, skip } = findNginx()

test('both servers respond behind the proxy, under its name', { skip }, async (t) => {
  const store = (await startPostgres()).freshUrl()
  const env = { COLOPHON_STORE: store, COLOPHON_ACTOR: 'human:admin' }
  const pushed = await runColophon(['push', await writeSheet(t)], { env })
  assert.equal(pushed.code, 0, pushed.stderr)
  const args = wordsOf(compose.services['server-1'] as Service).join(' ')
  const options = args.replace('--host 0.0.0.0 --port 3000', '--port 0').split(' ')
  const ports = await Promise.all(
    [1, 2].map(() => new ColophonProcess(t, options, { env: { COLOPHON_STORE: store } }).port()),
  )
  const conf = readFileSync(join(DIRECTORY, 'nginx.conf'), 'utf8')
  const { socket } = await startNginx(t, nginx, {
    passwords: 'ann:{PLAIN}secret\n',
    site: (paths) =>
      conf
        .replace('listen 443 ssl;', `listen unix:${paths.socket};`)
        .replace(/ssl_certificate.*;/g, '')
        .replace('server-1:3000', `127.0.0.1:${ports[0]}`)
        .replace('server-2:3000', `127.0.0.1:${ports[1]}`)
        .replace('/etc/nginx/colophon.htpasswd', paths.passwords),
  })
  const ask = async (path: string, body?: object): Promise<[status: number | undefined, body: string]> => {
    const { promise, resolve, reject } = Promise.withResolvers<[number | undefined, string]>()
    const asked = request({
      socketPath: socket,
      path,
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        host: 'sheet.example',
        authorization: `Basic ${Buffer.from('ann:secret').toString('base64')}`,
        'content-type': 'application/json',
        ...CSRF,
      },
    })
    asked.on('error', reject)
    asked.on(
      'response',
      (answer) => void text(answer).then((all) => resolve([answer.statusCode, all]), reject),
    )
    asked.end(body === undefined ? undefined : JSON.stringify(body))
    return promise
  }
  // One after the other go to one server and the other.
  for (const title of ['One', 'Two', 'Three', 'Four']) {
    const [status, said] = await ask('/api/records', { records: [{ id: 'a', title }], actor: 'human:eve' })
    assert.equal(status, 200, said)
    for (let reads = 0; reads < 3; reads += 1) {
      const [, record] = await ask('/api/records/a')
      assert.equal((JSON.parse(record) as { title: string }).title, title)
    }
  }
  const [, line] = await ask('/api/provenance?record_id=a&field=title')
  assert.equal((JSON.parse(line) as { actor: string }).actor, 'ann')
})
