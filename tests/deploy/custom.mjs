// custom.mjs FILE...: checks objects of the Prometheus operator and of the Gateway API against their schemas, from
// packages in TOOLS/node_modules (environment variable). Prints the number of objects; exits with 1 if one is invalid.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const packages = join(process.env.TOOLS, 'node_modules');
const yaml = createRequire(`${packages}/`)('yaml');
const groups = {
  'monitoring.coreos.com/v1': 'prometheus-operator',
  'gateway.networking.k8s.io/v1': 'gateway-api',
};

// The class of an object, which validates it.
async function model(object) {
  const path = join(packages, '@kubernetes-models', groups[object.apiVersion], object.apiVersion, `${object.kind}.js`);
  return (await import(pathToFileURL(path)))[object.kind];
}

let checked = 0;
let failed = false;
for (const file of process.argv.slice(2)) {
  for (const document of yaml.parseAllDocuments(readFileSync(file, 'utf8'))) {
    const object = document.toJS();
    if (!groups[object?.apiVersion]) continue;
    checked += 1;
    try {
      const Kind = await model(object);
      new Kind(object).validate();
    } catch (error) {
      failed = true;
      console.error(`${file}: ${object.kind} ${object.metadata.name}: ${error.message}`);
    }
  }
}
console.log(`${checked} objects of other API groups`);
process.exit(failed || checked === 0 ? 1 : 0);
