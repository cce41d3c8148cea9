// Package scrape fetches the public page of a site: by itself, minding robots.txt,
// or by Firecrawl or Tavily with the caller's key. Every call goes through package
// outbound, and so does the judgement of the address, whoever fetches it. It keeps
// nothing, and puts neither a key nor what a scraper says into an error.
package scrape
