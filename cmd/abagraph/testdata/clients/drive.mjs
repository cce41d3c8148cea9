// Drives a server with the official TypeScript SDK, over each way that stdin
// names, through the same steps, and writes what came back as one JSON line.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

let input = "";
for await (const chunk of process.stdin) input += chunk;
const { ways, calls } = JSON.parse(input);

function transport(way) {
  if (way.url) return new StreamableHTTPClientTransport(new URL(way.url), { requestInit: { headers: way.headers } });
  return new StdioClientTransport({ command: way.command, args: way.args, env: way.env, stderr: "pipe" });
}

async function drive(way) {
  const client = new Client({ name: "drive", version: "1" });
  await client.connect(transport(way));
  const out = { server: client.getServerVersion(), instructions: client.getInstructions() };
  out.tools = (await client.listTools()).tools.map((t) => t.name);
  out.prompts = (await client.listPrompts()).prompts.map((p) => p.name);
  out.templates = (await client.listResourceTemplates()).resourceTemplates.map((t) => t.uriTemplate);
  out.results = [];
  let last = {};
  for (const { name, args } of calls) {
    // An answer that breaks its tool's output schema throws here.
    const text = JSON.stringify({ ...args, namespace: way.namespace }).replaceAll("$ID", last.written_id ?? "");
    const result = await client.callTool({ name, arguments: JSON.parse(text) }, undefined, { onprogress: () => {} });
    last = { ...last, ...result.structuredContent };
    out.results.push({ name, isError: result.isError ?? false, text: result.content[0].text, structured: result.structuredContent });
  }
  const uri = `abagraph://${way.namespace}/entity/Project:atlas`;
  out.resource = (await client.readResource({ uri })).contents[0].text;
  const named = { namespace: way.namespace, subject: "Project:atlas", predicate: "lead" };
  out.prompt = (await client.getPrompt({ name: "why_do_we_believe", arguments: named })).messages.length;
  const ref = { type: "ref/prompt", name: "why_do_we_believe" };
  const context = { arguments: { namespace: way.namespace } };
  out.completion = (await client.complete({ ref, argument: { name: "subject", value: "Proj" }, context })).completion.values;
  await client.close();
  return out;
}

const all = {};
for (const way of ways) all[way.name] = await drive(way);
console.log(JSON.stringify(all));
