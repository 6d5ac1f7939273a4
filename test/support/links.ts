import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { headings, withoutCode } from './markdown.ts'

const SKIPPED = new Set(['node_modules', 'dist', 'coverage'])

/** Returns the paths of the Markdown pages in a directory, relative to it, without build results and hidden folders. */
export function pagesIn(root: string, folder = root): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory())
      return entry.name.startsWith('.') || SKIPPED.has(entry.name) ? [] : pagesIn(root, path)
    return entry.name.endsWith('.md') ? [relative(root, path)] : []
  })
}

/** Returns the broken links between pages and files of a directory, each as `page: target: reason`. */
export function brokenLinks(root: string): string[] {
  return pagesIn(root).flatMap((page) =>
    links(read(root, page))
      .filter((target) => !/^[a-z][a-z0-9+.-]*:/i.test(target))
      .flatMap((target) => {
        const reason = brokenReason(root, page, target)
        return reason === null ? [] : [`${page}: ${target}: ${reason}`]
      }),
  )
}

/** Returns the targets of links and images; code contains no links. */
export function links(page: string): string[] {
  const text = withoutCode(page).replaceAll(/`([^`\n]*)`/g, (code) => (code.includes('](') ? '' : code))
  const inline = [...text.matchAll(/\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)/g)]
  const defined = [...text.matchAll(/^\[[^\]]+\]:\s+(\S+)/gm)]
  return [...inline, ...defined].map(([, target = '']) => target)
}

/** Returns the anchors of a page as GitHub makes them: letters, digits, `_` and `-` in lower case; repeats are numbered. */
export function anchors(page: string): Set<string> {
  const seen = new Map<string, number>()
  const names = headings(page).map(({ title }) => {
    const text = title.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    const name = text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
      .replaceAll(' ', '-')
    const count = seen.get(name) ?? 0
    seen.set(name, count + 1)
    return count === 0 ? name : `${name}-${count}`
  })
  return new Set(names)
}

function brokenReason(root: string, page: string, target: string): string | null {
  const [path = '', anchor] = target.split('#', 2)
  const file = path === '' ? page : join(dirname(page), decodeURIComponent(path))
  if (file.startsWith('..')) return 'leads out of the directory'
  if (!existsSync(join(root, file))) return 'there is no such file'
  if (anchor === undefined) return null
  if (statSync(join(root, file)).isDirectory() || !file.endsWith('.md')) return 'an anchor in what is no page'
  return anchors(read(root, file)).has(anchor) ? null : 'there is no such heading'
}

function read(root: string, page: string): string {
  return readFileSync(join(root, page), 'utf8')
}
