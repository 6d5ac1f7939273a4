import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { onEnd } from './on-end.ts'

export interface NginxFiles {
  /** Returns the configuration that a package's `nginx.conf` includes in its http context. */
  readonly site: (paths: NginxPaths) => string
  /** The lines of the file with passwords. */
  readonly passwords: string
}

export interface NginxPaths {
  /** A Unix socket to listen on, which no other process can take, unlike a port. */
  readonly socket: string
  readonly passwords: string
}

/** Starts the real nginx with all of its files in its own directory, and stops it when the test ends. */
export async function startNginx(t: TestContext, program: string, files: NginxFiles): Promise<NginxPaths> {
  const directory = await mkdtemp(join(tmpdir(), 'colophon-nginx-'))
  onEnd(t, () => rm(directory, { recursive: true, force: true }))
  const paths = { socket: join(directory, 'socket'), passwords: join(directory, 'passwords') }
  await writeFile(paths.passwords, files.passwords)
  const site = files.site(paths)
  await writeFile(
    join(directory, 'nginx.conf'),
    `${main(directory)}\nhttp {\n${http(directory)}\n${site}\n}\n`,
  )
  const args = ['-p', directory, '-c', join(directory, 'nginx.conf'), '-e', 'stderr', '-g', 'daemon off;']
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  const ended = once(child, 'close')
  onEnd(t, async () => {
    child.kill('SIGTERM')
    await ended
  })
  let log = ''
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', (chunk) => {
      log += String(chunk)
      // It listens before it starts its workers.
      if (log.includes('start worker process ')) resolve()
    })
    void ended.then(() => reject(new Error(`nginx ended: ${log}`)))
  })
  return paths
}

function main(directory: string): string {
  return [
    // Started by root, it would change to a user who cannot read this directory.
    ...(process.getuid?.() === 0 ? ['user root;'] : []),
    'worker_processes 1;',
    `pid ${directory}/pid;`,
    'error_log stderr notice;',
    'events { worker_connections 256; }',
  ].join('\n')
}

function http(directory: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  return ['access_log off;', ...temporary.map((name) => `${name}_temp_path ${directory}/${name};`)].join('\n')
}
