import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { Database } from '../../src/store/postgres/database/database.ts'
import { parseStoreUrl } from '../../src/store/postgres/database/store-url.ts'
import { ColophonProcess } from '../support/colophon-process.ts'
import { DatabaseProxy } from '../support/database-proxy.ts'
import { CSRF } from '../support/http-fixture.ts'
import { onEnd } from '../support/on-end.ts'

type Role = 'server' | 'worker'

/** A process of the cluster, from its start to its end. */
export interface Member {
  /** Unlike that of any other; the database and the API know it by this name. */
  readonly name: string
  readonly role: Role
  readonly process: ColophonProcess
  /** Its way to the database; null for a straight one. */
  readonly proxy: DatabaseProxy | null
  /** The address of a server, `http://127.0.0.1:<port>`. */
  readonly url: string
  /** Whether anything was ever done to it that can make calls happen twice. */
  struck: boolean
  /** Whether it is halted or cut off at the moment. */
  away: boolean
}

/** Servers and workers of one sheet in PostgreSQL, as processes of their own. */
export class Cluster {
  /** All that ever were. */
  readonly everybody = new Map<string, Member>()
  /** The processes that have not been killed. */
  readonly members = new Set<Member>()
  readonly store: Database
  readonly #t: TestContext
  readonly #url: string
  #count = 0

  constructor(t: TestContext, url: string) {
    this.#t = t
    this.#url = url
    this.store = new Database(parseStoreUrl(url))
    onEnd(t, () => this.store.close())
  }

  /** Starts a process, by a proxy or without, and waits until it is there. */
  async start(role: Role, { proxied }: { proxied: boolean }): Promise<Member> {
    const name = `${role}-${(this.#count += 1)}`
    const proxy = proxied ? await DatabaseProxy.start(this.#t, this.#url) : null
    const args = role === 'server' ? ['serve', '--port', '0', '--actor', 'agent:cluster'] : ['worker']
    const process = new ColophonProcess(this.#t, [...args, '--store', proxy?.url ?? this.#url], {
      env: { PGAPPNAME: name, CALLER: name },
    })
    if (role === 'worker') await process.said('Colophon works for')
    const url = role === 'server' ? `http://127.0.0.1:${await process.port()}` : ''
    const member = { name, role, process, proxy, url, struck: false, away: false }
    this.everybody.set(name, member)
    this.members.add(member)
    return member
  }

  /** Kills a process and waits until it is gone. */
  async kill(member: Member): Promise<void> {
    member.struck = true
    this.members.delete(member)
    member.process.kill('SIGKILL')
    await member.process.end()
  }

  /** Returns the processes of a role that are neither halted nor disconnected. */
  present(role: Role): Member[] {
    return [...this.members].filter((member) => member.role === role && !member.away)
  }

  servers(): Member[] {
    return [...this.members].filter(({ role }) => role === 'server')
  }

  /** Returns the process with the run lock; null for none. */
  async lockHolder(): Promise<Member | null> {
    const row = await this.store.get(
      `SELECT activity.application_name AS name FROM pg_locks AS lock JOIN pg_stat_activity AS activity USING (pid)
       WHERE lock.locktype = 'advisory' AND lock.granted AND activity.application_name <> '' LIMIT 1`,
    )
    return this.everybody.get(String(row?.['name'])) ?? null
  }

  /** The answer of some server that is there. */
  async get<T>(path: string): Promise<T> {
    const [server] = this.present('server')
    assert.ok(server)
    const answer = await fetch(server.url + path)
    assert.equal(answer.status, 200, `${path}: ${await answer.clone().text()}`)
    return (await answer.json()) as T
  }

  /** Starts a run at a server; answers with its id. */
  async run(server: Member): Promise<string> {
    const answer = await fetch(`${server.url}/api/materialize`, {
      method: 'POST',
      headers: { ...CSRF, 'content-type': 'application/json', prefer: 'respond-async' },
      body: '{}',
    })
    assert.equal(answer.status, 202, await answer.clone().text())
    return ((await answer.json()) as { id: string }).id
  }
}
